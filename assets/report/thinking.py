"""Judges at several steps of thinking: their rates against the tokens of an answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.kit.token_counts import OUTPUT_TOKENS, THINKING_TOKENS
from assets.report.cells import Cell, Table, points_cell, rate_numbers, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.curves import CurveChart, CurveLine, CurvePoint
from assets.report.formats import (
    NONE,
    Rate,
    format_count,
    format_p,
    format_whole_percent,
    read_rate,
)
from assets.report.standings import Measure, Standing
from assets.report.subjects import ReportSubject
from metrics.statistics.firmness import Evidence
from metrics.statistics.token_means import measure_tokens
from resources.models.catalog import Model
from resources.models.thinking_steps import name_axis

GAIN = Measure(
    "Gain by thinking",
    "higher",
    "points",
    "The share that a judge has right at its step of thinking with the most tokens, less that at "
    "the one with the fewest, on the same questions.",
    unit="points of 100",
    left_label="worse with most thinking",
    right_label="better with most thinking",
    is_optional=True,
)
_COMPARED = ("result", "stand-in")
_LEVEL = 0.05


class ThinkingAxis(NamedTuple):
    """An axis of models.yaml: its judge, the parameter, and by label the judge at each step."""

    judge: str
    parameter: str
    steps: Mapping[str, str]


def list_axes(judges: Iterable[Model]) -> list[ThinkingAxis]:
    """List the axes of judges that have one."""
    return [
        ThinkingAxis(
            judge.name,
            name_axis(judge.thinking),
            {label: model.name for label, model in judge.thinking_steps},
        )
        for judge in judges
        if judge.thinking is not None
    ]


class StepPoint(NamedTuple):
    """A judge at one step: its rates by measure, the answers behind them, and their tokens."""

    label: str
    model: str
    rates: Mapping[str, Rate]
    evidence: Evidence
    answers: int
    counted: int
    """Answers whose tokens are known."""
    tokens: Rate
    thinking_tokens: Rate

    @property
    def has_tokens(self) -> bool:
        """True where the mean of its tokens is known."""
        return self.tokens.value is not None

    @classmethod
    def build(
        cls,
        label: str,
        model: str,
        rates: Mapping[str, Rate],
        evidence: Evidence,
        rows: pd.DataFrame,
    ) -> "StepPoint":
        """The point of a judge's given answers: `base_id`, `domain`, and the columns of tokens."""
        tokens, thinking_tokens = (
            measure_tokens(
                rows.get(name, pd.Series(dtype=float)).reindex(rows.index).astype(float),
                rows["base_id"],
                rows["domain"],
            )
            for name in (OUTPUT_TOKENS, THINKING_TOKENS)
        )
        return cls(
            label=label,
            model=model,
            rates=rates,
            evidence=evidence,
            answers=len(rows),
            counted=tokens.counted,
            tokens=read_rate(tokens._asdict(), "tokens"),
            thinking_tokens=read_rate(thinking_tokens._asdict(), "tokens"),
        )


class StepDifference(NamedTuple):
    """Differences between two steps on the same questions, the one of fewer tokens first."""

    first: StepPoint
    second: StepPoint
    rows: Mapping[str, NamedRow]


@dataclass(frozen=True)
class ThinkingCurve:
    """A judge's answered steps, those of fewer tokens first, and how each two of them differ.

    `verb` is what the first measure says of a judge, as in "counts right in"; `scope` what all is
    about, where that is a part, as in "flags alone".
    """

    axis: ThinkingAxis
    points: Sequence[StepPoint]
    differences: Sequence[StepDifference] = ()
    verb: str = ""
    scope: str = ""

    @property
    def name(self) -> str:
        """The judge, with the scope where there is one."""
        return ", ".join(filter(None, (self.axis.judge, self.scope)))

    @classmethod
    def build(
        cls,
        axis: ThinkingAxis,
        points: Iterable[StepPoint],
        compare: Callable[[Sequence[str]], pd.DataFrame],
        verb: str,
        scope: str = "",
    ) -> "ThinkingCurve":
        """Order the points; `compare` gets the judges of results, or of stand-in runs.

        It gives a row for each measure and two of them, as `compare_columns`.
        """
        ordered = sort_points(points)
        results = {p.model: p for p in ordered if p.evidence.firmness in _COMPARED and p.has_tokens}
        rows: dict[tuple[str, str], dict[str, NamedRow]] = {}
        if len(results) > 1:
            for row in iterate_named_rows(compare([*results])):
                rows.setdefault((row.first, row.second), {})[row.measure] = row
        differences = [StepDifference(results[a], results[b], row) for (a, b), row in rows.items()]
        return cls(axis, ordered, differences, verb, scope)

    @property
    def is_stand_in(self) -> bool:
        """True if a stand-in had a part in any point."""
        return any(point.evidence.is_stand_in for point in self.points)

    @property
    def widest(self) -> StepDifference | None:
        """The compared steps of fewest and of most tokens; None where none are compared."""
        if not self.differences:
            return None
        first, last = self.differences[0].first, self.differences[-1].second
        return next(p for p in self.differences if p.first is first and p.second is last)

    @property
    def sentence(self) -> str:
        """The finding by the first measure; a rise or a fall is named where it is certain."""
        if not self.differences:
            return ""
        finding, points = self._conclude()
        numbers = _list_rates(points, self._measure)
        scope = f" ({self.scope})" if self.scope else ""
        return f"{self.axis.judge} {self.verb} {numbers}{scope}: {finding}."

    @property
    def finding(self) -> str:
        """The finding without numbers: `thinking helps up to a point, and more does worse`."""
        return self._conclude()[0]

    @property
    def _measure(self) -> str:
        return next(iter(self.points[0].rates))

    def _conclude(self) -> tuple[str, Sequence[StepPoint]]:
        """Conclude whether thinking helps, and from which points."""
        points, name = [point for point in self.points if self._is_compared(point)], self._measure
        first, last = points[0], points[-1]
        best = max(points, key=lambda point: point.rates[name].value or 0.0)
        rises, falls = self._gains(first, best, name), self._gains(last, best, name)
        if not rises and not falls:
            finding = "whether thinking changes that cannot be told from these scenes"
        elif rises and falls:
            finding = "thinking helps up to a point, and more does worse"
        elif falls:
            finding, first = "more thinking does worse", best
        elif best is last:
            finding = "more thinking does better"
        else:
            finding = "thinking helps, and whether more than that does worse cannot be told"
        return finding, (first, best, last)

    @property
    def warning(self) -> str:
        """What is odd about the tokens: unknown, or the same at every step; else empty."""
        points, name = (
            [point for point in self.points if point.has_tokens],
            self.axis.judge,
        )
        if len(points) < len(self.points):
            return (
                f"{name}: the tokens of some steps are not known. Either its server does not "
                "state them, or an older version stored the answers: materialize these again, "
                "which asks nothing anew."
            )
        fewest, most = points[0].tokens, points[-1].tokens
        if (most.low or most.value or 0.0) <= (fewest.high or fewest.value or 0.0):
            return (
                f"{name}: its answers take about as many tokens at every step. Its server may "
                f"ignore {self.axis.parameter}: look for the parameter's name in its documents."
            )
        return ""

    def _is_compared(self, point: StepPoint) -> bool:
        return any(point in (pair.first, pair.second) for pair in self.differences)

    def _gains(self, point: StepPoint, best: StepPoint, name: str) -> bool:
        """True where the best of all steps is certainly better than another."""
        for pair in self.differences:
            if {pair.first.model, pair.second.model} == {point.model, best.model}:
                row = pair.rows[name]
                least_gain = row.low if pair.first is best else -row.high
                return bool(row.p_holm < _LEVEL and least_gain > 0)
        return False


@dataclass(frozen=True)
class ThinkingSection:
    """The section of a page: curves of every judge, over all and by part, such as by topic.

    `measures` are the labels of the rates by name, the one that findings are about first.
    """

    measures: Mapping[str, str]
    curves: Sequence[ThinkingCurve]
    parts: Mapping[str, Sequence[ThinkingCurve]]

    @property
    def warnings(self) -> list[str]:
        """What is odd about the tokens of some judges."""
        return [curve.warning for curve in self.curves if curve.warning]

    def list_gains(self, subject: ReportSubject, scope: str = "") -> Iterator[Standing]:
        """The gain of each judge by the first measure, which findings are about."""
        for curve in self.curves:
            if (pair := curve.widest) is None:
                continue
            row = pair.rows[next(iter(self.measures))]
            yield subject.standing(
                curve.axis.judge,
                GAIN,
                pair.second.evidence,
                Rate(-row.difference, -row.high, -row.low),
                items=int(row.questions),
                unit=f"questions about {format_count(int(row.scenes))} scenes",
                section="thinking",
                scope=scope,
                notes=[f"{pair.first.label} to {pair.second.label}: {curve.finding}"],
            )

    @property
    def charts(self) -> list[CurveChart]:
        """A chart for each measure."""
        return [*self._draw("thinking", "", self.curves)]

    @property
    def part_charts(self) -> list[CurveChart]:
        """Charts of each part."""
        return [
            chart
            for number, (title, curves) in enumerate(self.parts.items())
            for chart in self._draw(f"thinking-{number}", f"{title}: ", curves)
        ]

    @property
    def table(self) -> Table:
        """A line for each step."""
        return self._tabulate("Steps of thinking", self.curves)

    @property
    def part_tables(self) -> dict[str, Table]:
        """The same for each part."""
        return {
            title: self._tabulate(f"Steps of thinking: {title}", curves)
            for title, curves in self.parts.items()
        }

    @property
    def difference_table(self) -> Table:
        """A line for each two steps."""
        columns = [
            TableColumn[StepDifference](label, _build_difference_cell(name))
            for name, label in self.measures.items()
        ]
        head = RowHead[StepDifference](
            label=lambda pair: f"{pair.first.label} less {pair.second.label}"
        )
        bodies = {_name_body(curve): curve.differences for curve in self.curves}
        return tabulate("Differences between steps", "Steps", head, columns, bodies)

    def _tabulate(self, caption: str, curves: Sequence[ThinkingCurve]) -> Table:
        columns = [
            TableColumn[StepPoint]("Tokens per answer", _token_cell),
            TableColumn[StepPoint]("Of thinking", _thinking_cell),
            *(
                TableColumn[StepPoint](label, _build_rate_cell(name), ranked=True)
                for name, label in self.measures.items()
            ),
        ]
        head = RowHead[StepPoint](
            label=lambda point: point.label, evidence=lambda point: point.evidence
        )
        bodies = {_name_body(curve): curve.points for curve in curves}
        return tabulate(caption, "Step", head, columns, bodies)

    def _draw(self, id_: str, prefix: str, curves: Sequence[ThinkingCurve]) -> Iterator[CurveChart]:
        for name, label in self.measures.items():
            yield CurveChart(
                f"{id_}-{name}",
                f"{prefix}{label}",
                "by tokens per answer",
                [CurveLine(curve.name, _list_points(curve, name)) for curve in curves],
            )


def sort_points(points: Iterable[StepPoint]) -> list[StepPoint]:
    """Points by their tokens, those of unknown tokens last."""
    return sorted(points, key=lambda point: (point.tokens.value is None, point.tokens.value or 0.0))


def _list_points(curve: ThinkingCurve, name: str) -> list[CurvePoint]:
    return [
        CurvePoint(point.label, tokens, point.rates[name])
        for point in curve.points
        if (tokens := point.tokens.value) is not None and point.rates[name].value is not None
    ]


def _list_rates(points: Iterable[StepPoint], name: str) -> str:
    """`20 % at 310 tokens, 38 % at 1,200`, each point once."""
    texts = [
        f"{format_whole_percent(point.rates[name].value or 0.0)} at {_format_tokens(point)}"
        for point in {point.model: point for point in points}.values()
    ]
    return ", ".join([f"{texts[0]} tokens", *texts[1:]])


def _format_tokens(point: StepPoint) -> str:
    return format_count(round(point.tokens.value or 0.0))


def _name_body(curve: ThinkingCurve) -> str:
    return f"{curve.name}: {curve.axis.parameter}"


def _token_cell(point: StepPoint) -> Cell:
    part = f"of {format_count(point.counted)} of {format_count(point.answers)} answers"
    return _mean_cell(point.tokens, part if 0 < point.counted < point.answers else "")


def _thinking_cell(point: StepPoint) -> Cell:
    return _mean_cell(point.thinking_tokens, "")


def _mean_cell(mean: Rate, note: str) -> Cell:
    if mean.value is None:
        return Cell(NONE, note="not known")
    interval = ""
    if mean.low is not None and mean.high is not None:
        low, high = (format_count(round(end)) for end in (mean.low, mean.high))
        interval = f"[{low},\u00a0{high}]"
    return Cell(format_count(round(mean.value)), interval, note, rate_numbers(mean))


def _build_rate_cell(name: str) -> Callable[[StepPoint], Cell]:
    return lambda point: share_cell(point.rates[name]._replace(note=""))


def _build_difference_cell(name: str) -> Callable[[StepDifference], Cell]:
    def cell(pair: StepDifference) -> Cell:
        row = pair.rows[name]
        if row.difference is None:
            return Cell(NONE, note="no question in common")
        return points_cell(Rate(row.difference, row.low, row.high, format_p(row.p_holm)))

    return cell
