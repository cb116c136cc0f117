"""The tables of painters: their summaries by sample, metric, domain, knob and concept, and more."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.protobias.trial import MIN_RANKED_PAIRS
from assets.report.cells import Cell, margin_cell, mean_cell, share_cell
from assets.report.columns import RowHead, TableColumn
from assets.report.formats import Rate, format_count, mark_unlisted, read_rate
from assets.report.subjects import ReportSubject, firmest
from generators.prompts.concepts import DOMAINS
from metrics.statistics.firmness import Evidence, Firmness

ALL, EVALUATED, HUMAN = "all", "evaluated", "human"
TITLES = {name: name.capitalize() for name in DOMAINS}

Measure = Literal[
    "failure_rate", "tie_rate", "sc", "pa", "delta", "correct_margin", "incorrect_margin"
]

_CELLS: Mapping[Measure, Callable[[Rate], Cell]] = {
    "failure_rate": share_cell,
    "tie_rate": share_cell,
    "correct_margin": margin_cell,
    "incorrect_margin": margin_cell,
}
_WITHOUT = {
    "correct_margin": "never ranked right",
    "incorrect_margin": "never ranked wrong",
}


class BoardMetric(NamedTuple):
    """A metric or judge; a reference is there to bracket the others, and people are `human`."""

    name: str
    formula: str
    same_family: bool
    doubts: str = ""
    """The reasons why its numbers are not ranked: asked in part, or answers missing."""

    @property
    def group(self) -> Literal["Metrics and judges", "Trials", "Stand-in judges", "People"]:
        """Under which heading it stands."""
        if self.name == HUMAN:
            return "People"
        if self.formula == "stand_in":
            return "Stand-in judges"
        return "Trials" if self.doubts else "Metrics and judges"

    @property
    def small(self) -> str:
        """A note beside its name."""
        named = "" if self.formula in ("stand_in", HUMAN, "") else self.formula.replace("_", " ")
        family = "of the filter's family" if self.same_family else ""
        return ", ".join(filter(None, (named, family, self.doubts)))


METRIC_HEAD = RowHead[BoardMetric](
    label=lambda metric: metric.name, small=lambda metric: metric.small
)
GROUPS = ("Metrics and judges", "Trials", "Stand-in judges", "People")

Where: TypeAlias = tuple[str, str, str]
"""Domain, knob and concept, each `all` for the whole."""
WHOLE: Where = (ALL, ALL, ALL)


@dataclass(frozen=True, slots=True)
class Board:
    """The summary of one painter and sample."""

    metrics: Sequence[BoardMetric]
    cells: dict[tuple[str, Where], NamedRow]

    @classmethod
    def build(
        cls, summary: pd.DataFrame, sample: str, doubts: Mapping[str, str] = MappingProxyType({})
    ) -> "Board":
        """Read the rows of one sample; the metric that fails least comes first.

        `doubts` has by metric the reasons why its numbers are not ranked.
        """
        cells = {
            (row.metric, (row.domain, row.knob, row.concept)): row
            for row in iterate_named_rows(summary[summary["sample"] == sample])
        }
        metrics = dict.fromkeys(
            BoardMetric(
                row.metric, row.formula or "", bool(row.same_family), doubts.get(row.metric, "")
            )
            for row in cells.values()
        )

        def place(metric: BoardMetric) -> tuple[int, bool, float, str]:
            row = cells.get((metric.name, WHOLE))
            rate = row.failure_rate if row is not None else None
            return GROUPS.index(metric.group), rate is None, rate or 0.0, metric.name

        return cls(sorted(metrics, key=place), cells)

    @property
    def domains(self) -> list[str]:
        """The domains there are, in the benchmark's order."""
        domains = {place[0] for _, place in self.cells}
        return [domain for domain in DOMAINS if domain in domains]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The mean over domains where there are several, then each domain, with their titles."""
        named = [(domain, TITLES[domain]) for domain in self.domains]
        return [(ALL, f"Mean over {len(named)} domains"), *named] if len(named) > 1 else named

    @property
    def places(self) -> Mapping[str, Where]:
        """The same as places, by title."""
        return {title: (domain, ALL, ALL) for domain, title in self.columns}

    @property
    def overall(self) -> Where:
        """The mean over domains, or the only domain there is."""
        return next(iter(self.places.values()), WHOLE)

    def column(
        self, label: str, place: Where, measure: Measure, group: str, detail: str = ""
    ) -> TableColumn[BoardMetric]:
        """A column of one number of every metric."""
        to_cell = _CELLS.get(measure, mean_cell)
        return TableColumn(
            label,
            lambda metric: to_cell(self.rate(metric, place, measure)),
            group=group,
            detail=detail,
        )

    def knobs(self, domain: str) -> list[str]:
        """The knobs of a domain."""
        return sorted(
            {knob for _, (place_domain, knob, _) in self.cells if place_domain == domain} - {ALL}
        )

    def concepts(self, domain: str) -> list[str]:
        """The concepts of a domain."""
        return sorted(
            {concept for _, (place_domain, _, concept) in self.cells if place_domain == domain}
            - {ALL}
        )

    def pairs(self, place: Where) -> int:
        """Number of pairs, scored or not."""
        summary_rows = (self.cells.get((metric.name, place)) for metric in self.metrics)
        return max((row.pairs + row.unscored for row in summary_rows if row is not None), default=0)

    def rate(self, metric: BoardMetric, place: Where, measure: Measure) -> Rate:
        """A number with its interval, and how many pairs and domains it lacks; or why none."""
        row = self.cells.get((metric.name, place))
        if row is None:
            return Rate(None, note="not scored")
        rate = read_rate(row._asdict(), measure)
        places = [(domain, ALL, ALL) for domain in self.domains] if place == WHOLE else []
        parts = [
            part for domain_place in places if (part := self.cells.get((metric.name, domain_place)))
        ]
        # A margin has no number in domains where no pair ranks so.
        counted = [
            part
            for part in parts
            if (part.pairs if rate.value is None else getattr(part, measure) is not None)
        ]
        few = f"{len(counted)} of {len(places)} domains" if len(counted) < len(places) else ""
        if rate.value is None:
            without = _WITHOUT.get(measure, "") if row.pairs else "no pair scored"
            return Rate(None, note=few or without)
        unscored = f"{format_count(row.unscored)} unscored" if row.unscored else ""
        return rate._replace(note=", ".join(filter(None, (unscored, few))))

    def grouped(self) -> Iterator[tuple[str, list[BoardMetric]]]:
        """The metrics by heading, those that have any."""
        for group in GROUPS:
            if metrics := [metric for metric in self.metrics if metric.group == group]:
                yield group, metrics


class Duration(NamedTuple):
    """The mean seconds that both requests of a pair took, over some pairs."""

    seconds: float
    pairs: int


@dataclass(frozen=True)
class SummarisedPainter(ReportSubject):
    """A painter's summary, pairs, scores and human scores, in the columns of those assets.

    `pairs` has the columns of `filtered_pairs`, which are empty for what is not filtered yet.
    `scores` is what `assets.protobias.score_table.load_all_scores` gives and `retention` what
    `assets.protobias.retention.retention` does; `human` is empty where people have scored nothing.
    `missing` says in words what is not there, and `samples` what the results of each domain rest
    on; `parts` are the steps that a limit has cut short. `partial` says of metrics that were
    asked about a part of the evaluated pairs how many these are.
    """

    kind: ClassVar[str] = "painter"
    gallery_kind: ClassVar[str] = "pairs"
    name: str
    summary: pd.DataFrame
    pairs: pd.DataFrame
    scores: pd.DataFrame
    human: pd.DataFrame
    retention: pd.DataFrame
    missing: Sequence[str] = ()
    parts: Sequence[str] = ()
    samples: Sequence[str] = ()
    partial: Mapping[str, str] = field(default_factory=dict)
    durations: Mapping[str, Duration] = field(default_factory=dict)
    """Time to score a pair, by metric."""
    is_listed: bool = True
    """Whether models.yaml still names the painter."""
    dates: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def is_stand_in(self) -> bool:
        """True if its pictures are schematics."""
        return bool(self.pairs["is_stand_in"].any())

    @cached_property
    def board(self) -> Board:
        """The summary of the evaluated pairs."""
        evidence = {str(name): self.evidence(name) for name in self._evaluated["metric"].unique()}
        doubts = {
            name: ", ".join(metric_evidence.reasons)
            for name, metric_evidence in evidence.items()
            if metric_evidence.firmness in ("trial", "no answer")
        }
        return Board.build(self.summary, EVALUATED, doubts)

    @cached_property
    def firmness(self) -> Firmness:
        """The firmness of its firmest metric; of schematics always `stand-in`."""
        return "stand-in" if self.is_stand_in else firmest(self.judge_evidence.values())

    @property
    def judge_evidence(self) -> Mapping[str, Evidence]:
        """The scored pairs behind each metric's failure rate; references and people apart."""
        metrics = (
            metric for metric in self.board.metrics if metric.formula not in ("stand_in", HUMAN)
        )
        return {metric.name: self.evidence(metric.name) for metric in metrics}

    @property
    def title(self) -> str:
        """Its name, and that its entry is gone where it is."""
        return mark_unlisted(self.name, is_listed=self.is_listed)

    @property
    def trial(self) -> bool:
        """True if its pictures are real, and no metric has a result."""
        return self.firmness not in ("result", "stand-in")

    def evidence(self, metric: str) -> Evidence:
        """The scored pairs behind a metric's failure rate over all domains."""
        domain_rows, domains = self._select_rows(metric), set(self._evaluated["domain"])
        scored = [int(row.pairs) for row in domain_rows]
        lacking = (
            f"{len(domain_rows)} of {len(domains)} domains"
            if len(domain_rows) < len(domains)
            else ""
        )
        part = self.partial.get(metric, lacking)
        return Evidence(
            requests=sum(scored) + sum(int(row.unscored) for row in domain_rows),
            answers=sum(scored),
            units=min(scored, default=0),
            min_units=MIN_RANKED_PAIRS,
            unit="pairs of a domain",
            part=", ".join(filter(None, (part, *self.parts))),
            is_stand_in=self.is_stand_in or any(row.formula == "stand_in" for row in domain_rows),
        )

    def _select_rows(self, metric: str) -> list[NamedRow]:
        return list(iterate_named_rows(self._evaluated[self._evaluated["metric"].eq(metric)]))

    @cached_property
    def _evaluated(self) -> pd.DataFrame:
        """The rows of whole domains of the evaluated pairs."""
        table = self.summary
        is_domain = table["domain"].ne(ALL) & table["knob"].eq(ALL) & table["concept"].eq(ALL)
        return table[is_domain & table["sample"].eq(EVALUATED)]

    @property
    def evaluated_scores(self) -> pd.DataFrame:
        """The scores of the evaluated pairs."""
        return self.scores[self.scores["sample"] == EVALUATED]

    @property
    def evaluated(self) -> int:
        """Number of evaluated pairs."""
        return sum(self.board.pairs((domain, "all", "all")) for domain in self.board.domains)

    @cached_property
    def humans(self) -> Board:
        """The same on the pairs that people scored as well."""
        return Board.build(self.summary, HUMAN)

    @property
    def has_people(self) -> bool:
        """True if people have scored any pair on both sides."""
        return any(metric.name == HUMAN for metric in self.humans.metrics)

    @property
    def domains(self) -> list[str]:
        """The domains of which there are pairs."""
        domains = set(self.pairs["domain"])
        return [domain for domain in DOMAINS if domain in domains]
