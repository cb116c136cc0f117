"""Small charts of one judge, one a measure, each on its own scale: itself, and all others in grey.

A radar would put shares, scores and changes on one scale, and make an area of the order in which
benchmarks happen to stand.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assets.report.charts import Scale
from assets.report.formats import Rate
from assets.report.front_tables import BETTER, WRITTEN, MeasureColumn
from assets.report.profiles import Profile
from assets.report.standings import Measure, Standing

_LEAST_CHANGE = 0.1
"""The scale of changes and differences goes at least so far."""


class Strip(NamedTuple):
    """A judge's number by one measure; places on the scale are from 0 to 1.

    `rank` is among results, empty for a trial.
    """

    id: str
    benchmark: str
    name: str
    better: str
    text: str
    trial: bool
    rank: str
    position: Rate
    others: Sequence[float]
    ticks: Sequence[tuple[float, str]]


def strips(
    columns: Sequence[MeasureColumn], profile: Profile, profiles: Sequence[Profile]
) -> list[Strip]:
    """A strip for each measure by which the judge has a number that is no stand-in's."""
    return [
        strip
        for index, column in enumerate(columns)
        if (strip := _strip(column, profile, profiles, index)) is not None
    ]


def _strip(
    column: MeasureColumn, profile: Profile, profiles: Sequence[Profile], index: int
) -> Strip | None:
    measure = column.measure
    if measure is None:
        return None
    first = {other.name: other.select_standings(column.folder, measure)[:1] for other in profiles}
    numbers = {
        name: standings[0]
        for name, standings in first.items()
        if standings and standings[0].value is not None
    }
    if profile.name not in numbers:
        return None
    own_standing = numbers.pop(profile.name)
    others = [standing for standing in numbers.values() if standing.firmness == "result"]
    scale = _scale(measure, [own_standing, *others])
    written = WRITTEN[measure.written]
    cell = written(own_standing.rate)
    trial = own_standing.firmness == "trial"
    return Strip(
        f"strip-{index}",
        column.title,
        measure.name,
        BETTER[measure.better],
        f"{cell.text} {cell.detail}".strip(),
        trial,
        "" if trial else _rank(measure, own_standing, others),
        scale.place_rate(own_standing.rate),
        [scale.place(value) for value in _values(others)],
        [(scale.place(value), written(Rate(value)).text) for value in sorted({0.0, *scale})],
    )


def _scale(measure: Measure, shown: Sequence[Standing]) -> Scale:
    """The ends of a scale that holds 0, and 1 of what can be 1 at most."""
    numbers = [
        end
        for standing in shown
        for end in (standing.value, standing.low, standing.high)
        if end is not None
    ]
    least = _LEAST_CHANGE if measure.written in ("change", "points") else 1.0
    return Scale(min(0.0, *numbers), max(least, *numbers))


def _rank(measure: Measure, own_standing: Standing, others: Sequence[Standing]) -> str:
    """`2 of 7`, among results on the same; ties share a place. Empty without any other."""
    alike = [standing for standing in others if standing.scope == own_standing.scope]
    if not alike:
        return ""
    mine = _worse(measure, own_standing.value or 0.0)
    place = 1 + sum(_worse(measure, value) < mine for value in _values(alike))
    return f"{place} of {len(alike) + 1}"


def _worse(measure: Measure, value: float) -> float:
    """The more, the worse."""
    worse: Mapping[str, float] = {"higher": -value, "lower": value, "near 0": abs(value)}
    return worse[measure.better]


def _values(standings: Sequence[Standing]) -> Iterator[float]:
    return (standing.value for standing in standings if standing.value is not None)
