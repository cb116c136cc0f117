"""Answers about pictures beside those that a judge gives blind, as a table of any benchmark."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from assets.report.cells import Cell, Table, part_cell, points_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import format_count, format_whole_percent, read_rate
from metrics.statistics.firmness import Evidence

_MIN_SCENES = 20
"""Scenes that an interval needs (`metrics.statistics.cluster_intervals`)."""
_BLIND, _PICTURE = "Blind answers", "Answers about the picture"


class BlindLine(NamedTuple):
    """A judge, and its row of `metrics.blind_answer_table`; None where it was not asked blind."""

    judge: str
    row: Mapping[str, Any] | None
    part: str = ""
    """The share of the questions that was asked; empty for all."""
    is_stand_in: bool = False

    @property
    def evidence(self) -> Evidence:
        """The blind answers behind the judge's shares."""
        row = self.row or {"questions": 0, "blind_answers": 0, "compared_scenes": 0}
        return Evidence(
            requests=row["questions"],
            answers=row["blind_answers"],
            units=row["compared_scenes"],
            min_units=_MIN_SCENES,
            unit="scenes to compare",
            part=self.part,
            is_stand_in=self.is_stand_in,
        )

    @property
    def sentence(self) -> str:
        """The finding in a sentence; empty where the shares may not be ranked."""
        if self.row is None or self.evidence.firmness != "result":
            return ""
        share = format_whole_percent(self.row["blind_share"])
        return f"{self.judge} keeps its blind answer in {share} of the pictures that contradict it."

    def _format(self, cell: Cell) -> Cell:
        """The cell; "not asked" in its place where the judge was not."""
        return Cell("", note="not asked") if self.row is None else cell

    def count_cell(self, name: str, total: str) -> Cell:
        """The cell of a count of scenes, of another."""
        row = self.row or {name: 0, total: 0}
        return self._format(part_cell(row[name], row[total]))

    def share_cell(self, name: str) -> Cell:
        """The cell of a share of the answers compared."""
        scenes = format_count((self.row or {"compared_scenes": 0})["compared_scenes"])
        rate = read_rate(self.row, name)._replace(note=f"{scenes} scenes")
        return self._format(share_cell(rate))

    def difference_cell(self) -> Cell:
        """The cell of the paired difference of both shares."""
        return self._format(points_cell(read_rate(self.row, "difference")))


_COUNTS = (
    TableColumn[BlindLine](
        "Readable", lambda line: line.count_cell("blind_answers", "questions"), group=_BLIND
    ),
    TableColumn[BlindLine](
        "Right", lambda line: line.count_cell("blind_right", "blind_answers"), group=_BLIND
    ),
)
_EXPECTED = TableColumn[BlindLine](
    "As expected", lambda line: line.count_cell("blind_expected", "blind_answers"), group=_BLIND
)
_KEPT = TableColumn[BlindLine](
    "As blind", lambda line: line.share_cell("blind_share"), ranked=True, group=_PICTURE
)
_BESIDE = (
    TableColumn[BlindLine](
        "As expected", lambda line: line.share_cell("expected_share"), ranked=True, group=_PICTURE
    ),
    TableColumn[BlindLine](
        "Difference", lambda line: line.difference_cell(), ranked=True, group=_PICTURE
    ),
)


def tabulate_blind_shares(
    bodies: Mapping[str, Iterable[BlindLine]], *, has_expected: bool = True
) -> Table:
    """Tabulate the shares by judge; beside expected answers where these may be others."""
    head = RowHead[BlindLine](
        label=lambda line: line.judge,
        evidence=lambda line: line.evidence if line.row else Evidence(requests=0, answers=0),
    )
    columns = (*_COUNTS, _EXPECTED, _KEPT, *_BESIDE) if has_expected else (*_COUNTS, _KEPT)
    return tabulate("Answers with the picture and blind", "Judge", head, columns, bodies)
