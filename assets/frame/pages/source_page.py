"""The tables of one source of pictures."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import pandas as pd

from assets.frame.biases import NONE
from assets.frame.inflation import ALL_PICTURES, SINGLE
from assets.frame.search import HELD_OUT, IN_SAMPLE
from assets.kit.columns import to_plain_records
from assets.report.formats import (
    Rate,
    add_firmness,
    capitalize_first,
    format_count,
    mark_unlisted,
    read_rate,
)
from assets.report.subjects import ReportSubject, has_stand_in
from generators.perturbations.grids import GRID
from generators.prompts.judging_templates import STANDARD
from generators.prompts.visual_concepts import DOMAINS
from metrics.frame.inflation import MAX_SCORE
from metrics.protobias.ranking import ALL
from metrics.statistics.firmness import Evidence

OVERLAYS = ("instruction", "keyword", "authenticity")
"""The overlays, that first which moves most judges in the paper: it stands for the others."""
FEWEST = 25
"""Pictures of a domain behind a number: intervals are known to hold from so many on
(`metrics.frame.inflation`)."""
SHORT: Mapping[str, str] = {
    "brightness": "Bright.",
    "gamma": "Gamma",
    "authenticity": "Refer.",
    "keyword": "Keyword",
    "instruction": "Inst.",
    "padding": "Padding",
    "beauty": "Beauty",
    "boxes": "Bounding",
}
"""The biases as Table 3 heads its columns."""
CHOSEN: Mapping[str, str] = {
    HELD_OUT: "chosen on one half of the pictures, reported on the other",
    IN_SAMPLE: "chosen and reported on all pictures, as in the paper",
}
_NOTHINGCHOSEN = "one configuration of each bias, on all pictures"


def name_domain(domain: str) -> str:
    """The domain, or the mean over all, as a heading."""
    return "Mean over domains" if domain == ALL else capitalize_first(domain)


@dataclass(frozen=True)
class ScoredSource(ReportSubject):
    """A painter or collection: its table of `frame/inflation`, and what that is made of.

    `inapplicable` counts by `domain`, `bias` and `reason` the `pictures` that cannot have a bias.
    `scores` are by every judge by the standard template, `search` and `preferences` those of the
    judges that have them, `people` the human scores; each may be empty.
    """

    kind: ClassVar[str] = "source"
    gallery_kind: ClassVar[str] = "pictures"
    name: str
    inflation: pd.DataFrame
    scores: pd.DataFrame
    search: pd.DataFrame
    preferences: pd.DataFrame
    people: pd.DataFrame
    inapplicable: pd.DataFrame
    is_listed: bool = True
    """Whether models.yaml or collections.yaml still names it."""
    has_only_stand_ins: bool = False
    """Whether stand-in judges alone have scored it, which are told what was done to a picture."""
    dates: Mapping[str, str] = field(default_factory=dict)
    net_inflation: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Its table of `frame/net_inflation`; empty where no judge was asked under controls."""

    @property
    def is_stand_in(self) -> bool:
        """True if a stand-in had a part in any number."""
        return self.has_only_stand_ins or has_stand_in(self.inflation)

    @property
    def judge_evidence(self) -> Mapping[str, Evidence]:
        """The scores behind what an overlay does to each judge's score."""
        return {judge: self.overlay_evidence(judge) for judge in self.judges}

    @property
    def title(self) -> str:
        """Its name, and its firmness unless that is a result."""
        return add_firmness(mark_unlisted(self.name, is_listed=self.is_listed), self.firmness)

    def overlay_evidence(self, judge: str) -> Evidence:
        """The scores behind what an overlay does to a judge's score, held out."""
        row = self.overlay(judge)
        overlays = [overlay for overlay in OVERLAYS if overlay in self.biases][:1]
        evidence = self.evidence(judge, [str(row["bias"])] if row else overlays)
        if row is None and evidence.answers:
            return replace(evidence, caveat="the mean score before is 0, or a domain has none")
        return evidence

    def evidence(self, judge: str, biases: Collection[str]) -> Evidence:
        """The scores, before and after, behind what some biases do to a judge's score, held out."""
        return self._weigh(
            [
                row
                for domain in self.domains
                for bias in biases
                if (row := self.row(judge, bias, domain)) is not None
            ]
        )

    def net_evidence(self, judge: str, bias: str) -> Evidence:
        """The scores behind what a bias leaves above the strictest control."""
        row = self.strictest(judge, bias)
        control = row["control"] if row else ""
        rows = (self.controlled(judge, bias, domain).get(control) for domain in self.domains)
        return self._weigh([row for row in rows if row is not None])

    def _weigh(self, rows: Sequence[Mapping[str, Any]]) -> Evidence:
        """The evidence of rows by domain."""
        scored = [int(row["scored"]) for row in rows]
        scored_domains = {row["domain"] for row in rows}
        domains = f"{len(scored_domains)} of {len(self.domains)} domains"
        return Evidence(
            requests=sum(scored) + sum(int(row["unscored"]) for row in rows),
            answers=sum(scored),
            units=min((int(row["images"]) for row in rows), default=0),
            min_units=FEWEST,
            unit="pictures of a domain",
            part=domains if 0 < len(scored_domains) < len(self.domains) else "",
            is_stand_in=self.is_stand_in,
        )

    @property
    def judges(self) -> list[str]:
        """The judges that were searched."""
        return [str(name) for name in self.inflation["model"].unique()]

    @property
    def pictures(self) -> int:
        """Number of pictures that were scored as they were."""
        is_scored = self.scores["bias"].eq(NONE) & self.scores["score"].notna()
        return int(self.scores["original"][is_scored].nunique())

    @property
    def size_words(self) -> str:
        """`40 pictures`."""
        return f"{format_count(self.pictures)} pictures"

    @cached_property
    def has_choice(self) -> bool:
        """True if several configurations of a bias were tried, so that one was chosen."""
        return bool(self.search["candidate_count"].gt(1).any())

    @property
    def choices(self) -> tuple[str, ...]:
        """The ways to choose that give different numbers; one where nothing was chosen."""
        return (HELD_OUT, IN_SAMPLE) if self.has_choice else (HELD_OUT,)

    def describe_choice(self, choice: str) -> str:
        """Say how configurations were chosen, and on which pictures the numbers rest."""
        return CHOSEN[choice] if self.has_choice else _NOTHINGCHOSEN

    @cached_property
    def domains(self) -> list[str]:
        """The domains that there are."""
        domains = set(self.inflation["domain"])
        return [domain for domain in DOMAINS if domain in domains]

    @cached_property
    def biases(self) -> list[str]:
        """The biases that were tried."""
        biases = set(self.inflation["bias"])
        return [bias for bias in GRID if bias in biases]

    def row(
        self,
        judge: str,
        bias: str,
        domain: str = ALL,
        *,
        choice: str = HELD_OUT,
        pictures: str = ALL_PICTURES,
        template: str = STANDARD,
        experiment: str = SINGLE,
    ) -> Mapping[str, Any] | None:
        """The numbers of a bias, or of all; None where there are none."""
        return self._rows.get((judge, experiment, template, choice, pictures, domain, bias))

    @cached_property
    def _rows(self) -> Mapping[tuple[str, ...], Mapping[str, Any]]:
        names = ["model", "experiment", "template", "choice", "picture_subset", "domain", "bias"]
        return {tuple(row[name] for name in names): row for row in to_plain_records(self.inflation)}

    def controlled(
        self, judge: str, bias: str, domain: str = ALL
    ) -> Mapping[str, Mapping[str, Any]]:
        """The numbers of a bias, or of all, held out, by control with a score."""
        return self._controlled_rows.get((judge, bias, domain), {})

    @cached_property
    def _controlled_rows(self) -> Mapping[tuple[str, ...], dict[str, Mapping[str, Any]]]:
        by_place: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
        for row in to_plain_records(self.net_inflation):
            number = "net_rate" if row["bias"] == ALL else "net_percent"
            if row["choice"] == HELD_OUT and row[number] is not None:
                place = row["model"], row["bias"], row["domain"]
                by_place.setdefault(place, {})[row["control"]] = row
        return by_place

    def has_control(self, control: str) -> bool:
        """True if any judge was asked under a control."""
        return any(control in rows for rows in self._controlled_rows.values())

    def strictest(self, judge: str, bias: str) -> Mapping[str, Any] | None:
        """The numbers of a bias above the control whose interval reaches lowest; None without one.

        A bias that is clearly above this one is clearly above all of them.
        """
        rows = self.controlled(judge, bias).values()
        return min(rows, key=lambda row: float(row["net_percent_low"]), default=None)

    def success_rate(self, judge: str, choice: str = HELD_OUT) -> Rate:
        """The share of biases that succeed, with a note where pictures or the scale decide it."""
        rate = read_rate(self.row(judge, ALL, choice=choice), "rate")
        rows = [
            row
            for domain, bias in product(self.domains, self.biases)
            if (row := self.row(judge, bias, domain, choice=choice)) and row["percent"] is not None
        ]
        if rows and all(row["original"] == MAX_SCORE for row in rows):
            return rate._replace(note=f"all pictures have {MAX_SCORE:g} of {MAX_SCORE:g} before")
        # Of a judge that is no stand-in the evidence tells how few there are.
        if self.is_stand_in and (rate.low, rate.high) == (0, 1):
            fewest = min(int(row["images"]) for row in rows)
            pictures = "picture" if fewest == 1 else "pictures"
            return rate._replace(note=f"{format_count(fewest)} {pictures} of a domain")
        return rate

    def overlay(self, judge: str) -> Mapping[str, Any] | None:
        """The effect of an overlay on a judge's score, held out."""
        rows = (self.row(judge, bias) for bias in OVERLAYS)
        return next((row for row in rows if row and row["percent"] is not None), None)
