"""The numbers of one dataset, as tables and charts take them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import pandas as pd

from assets.kit.step_run import Row
from assets.philautia.common import asset_key
from assets.philautia.examples import PreferenceExample
from assets.philautia.pomms import GENERATOR_ROW, PANEL_ROW, POMMS
from assets.philautia.preference_matrix import CELL, FAMILY, MATRIX, MODEL, PROBLEM, TEST
from assets.report.formats import format_count, format_signed
from assets.report.rows import Rows
from assets.report.subjects import ReportSubject, firmest
from generators.prompts.captioning import REFERENCE_BASED, REFERENCE_FREE
from metrics.philautia.image_bootstrap import MIN_IMAGES
from metrics.philautia.matching_test import SELF
from metrics.protobias.ranking import ALL
from metrics.statistics.firmness import Evidence, Firmness

SETTING_WORDS: Mapping[str, str] = {
    REFERENCE_FREE: "without references",
    REFERENCE_BASED: "with references",
}


@dataclass(frozen=True)
class ComparedDataset(ReportSubject):
    """A dataset: its tables of `philautia/preference_matrix` and of `philautia/pomms`."""

    kind: ClassVar[str] = "dataset"
    name: str
    matrix: pd.DataFrame
    pomms: pd.DataFrame
    examples: Sequence[PreferenceExample] = ()
    dates: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_stand_in(self) -> bool:
        """True if a stand-in had a part in any number."""
        return any(bool(row["is_stand_in"]) for row in (*self._matrix, *self._pomms))

    @cached_property
    def firmness(self) -> Firmness:
        """The firmness of the firmest judge in any setting."""
        return firmest(
            self.evidence(setting, judge)
            for setting in self.settings
            for judge in self.names(setting)[1]
        )

    @property
    def judge_evidence(self) -> Mapping[str, Evidence]:
        """The evidence behind each judge's preference in the first setting."""
        judges = self.names(self.setting)[1]
        return {judge: self.evidence(self.setting, judge) for judge in judges}

    def evidence(self, setting: str, judge: str) -> Evidence:
        """The scores behind a judge's preference for captions of its own."""
        writers = {row["generator"] for row in self.part(setting, CELL) if row["scored"]}
        cells = self.part(setting, CELL).select(evaluator=judge)
        scored_cells = [row for row in cells if row["generator"] in writers] or cells
        own_cell = self.cell(setting, judge, judge)
        is_asked = own_cell is not None and own_cell["requests"] > 0
        doubt = "no caption of its own to score"
        if own_cell is not None and is_asked:
            doubt = _doubt(own_cell, self.find_own_row(setting, judge))
        return Evidence(
            requests=sum(row["requests"] for row in scored_cells),
            answers=sum(row["scored"] for row in scored_cells),
            units=own_cell["scored"] if own_cell else 0,
            min_units=MIN_IMAGES if is_asked else 0,
            caveat=doubt,
            is_stand_in=self.is_stand_in,
        )

    def find_own_row(self, setting: str, judge: str) -> Row | None:
        """The diagonal's row of a judge; None where it wrote no captions."""
        return self.part(setting, MODEL).find(generator=judge)

    def ranked(self, setting: str) -> list[Row]:
        """The results: the diagonal's rows that are ranked."""
        return [
            row
            for row in self.models(setting)
            if row["preference"] is not None
            and self.evidence(setting, row["generator"]).firmness == "result"
        ]

    @cached_property
    def partial_judges(self) -> set[str]:
        """The judges that are seen to prefer their own captions in any setting."""
        rows = (row for setting in self.settings for row in self.models(setting))
        return {row["generator"] for row in rows if is_partial(row)}

    @property
    def images(self) -> int:
        """The most pictures of which captions were scored."""
        return max((row["images"] for row in self._matrix), default=0)

    @property
    def size_words(self) -> str:
        """`40 pictures, 5 models that write captions, 5 judges`."""
        generators, evaluators = self.names(self.setting)
        return (
            f"{format_count(self.images)} pictures, {len(generators)} models that write captions, "
            f"{len(evaluators)} judges"
        )

    @cached_property
    def _matrix(self) -> Rows:
        return Rows(MATRIX.read_rows(self.matrix, asset_key("preference_matrix")))

    @cached_property
    def _pomms(self) -> Rows:
        return Rows(POMMS.read_rows(self.pomms, asset_key("pomms")))

    @cached_property
    def settings(self) -> Sequence[str]:
        """The settings in which models' captions were scored."""
        present_settings = self._matrix.distinct("setting")
        return [setting for setting in SETTING_WORDS if setting in present_settings]

    @property
    def setting(self) -> str:
        """The first of these; empty where nothing was scored."""
        return next(iter(self.settings), "")

    def part(self, setting: str, part: str) -> Rows:
        """The rows of a part of the matrix."""
        return self._matrix.select(setting=setting, row_type=part)

    def names(self, setting: str) -> tuple[list[str], list[str]]:
        """The models that wrote captions, and those that scored them."""
        cells = self.part(setting, CELL)
        return cells.distinct("generator"), cells.distinct("evaluator")

    def cell(self, setting: str, generator: str, evaluator: str) -> Row | None:
        """The numbers of a cell; None where nothing was asked."""
        return self.part(setting, CELL).find(generator=generator, evaluator=evaluator)

    def models(self, setting: str) -> list[Row]:
        """The diagonal: a row for each model that writes and scores."""
        return [row for row in self.part(setting, MODEL) if row["generator"] != ALL]

    def families(self, setting: str) -> list[Row]:
        """The families of several models, each with its test."""
        tests = {row["tested"]: row for row in self.part(setting, TEST)}
        return [
            {**row, **{name: tests[row["family"]][name] for name in ("p", "p_holm")}}
            for row in self.part(setting, FAMILY)
            if len(row["members"]) > 1
        ]

    def test_of_self(self, setting: str) -> Row | None:
        """The permutation test of the diagonal."""
        return self.part(setting, TEST).find(tested=SELF)

    def problems(self, setting: str) -> list[str]:
        """Reasons why something could not be computed as usual."""
        return [row["reason"] for row in self.part(setting, PROBLEM)]

    def panels(self, setting: str) -> Rows:
        """The panels, single judges and metrics among them."""
        return self._pomms.select(setting=setting, row_type=PANEL_ROW)

    def panel_problems(self, setting: str) -> list[str]:
        """Reasons why there are no panels."""
        return [row["reason"] for row in self._pomms.select(setting=setting, row_type=PROBLEM)]

    def find_panel(self, setting: str, selection: str, members: Sequence[str]) -> Row | None:
        """The numbers of a panel; None where there are none."""
        return self.panels(setting).find(selection=selection, members=[*members])

    def against(self, setting: str, selection: str, members: Sequence[str]) -> dict[str, Row]:
        """Row of each generator's captions against a panel."""
        rows = self._pomms.select(setting=setting, row_type=GENERATOR_ROW, selection=selection)
        return {row["generator"]: row for row in rows.select(members=[*members])}


def is_partial(row: Row) -> bool:
    """True if a judge is seen to prefer its own captions."""
    return (row["preference_low"] or 0) > 0


def _doubt(cell: Row, row: Row | None) -> str:
    """The reason why a judge's preference for its captions is no result, however many there are."""
    if cell["scored"] and cell["preference"] is None:
        return "no preference can be told, which takes a second model"
    if row is None:
        return ""
    if row["missing_matters"]:
        points = format_signed(row["complete_preference"])
        return f"{points} on pictures that have all scores, so that it matters what is missing"
    return f"{row['caveat']}, of too few models" if row["caveat"] else ""
