"""The tables of the front page and of a judge's page: standings as cells, and what fills gaps."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from assets.report.cells import (
    Body,
    Cell,
    Fill,
    Group,
    Head,
    Line,
    Table,
    change_cell,
    mark_trial,
    points_cell,
    share_cell,
)
from assets.report.formats import FIRMNESS_WORDS, Rate, format_count
from assets.report.profiles import Profile
from assets.report.roster import NOTHING_TO_PAY
from assets.report.standings import Measure, Standing

WRITTEN: Mapping[str, Callable[[Rate], Cell]] = {
    "share": share_cell,
    "change": change_cell,
    "points": points_cell,
}
"""Functions that make a cell of a number, by the format of its measure."""
BETTER = {"higher": "higher is better", "lower": "lower is better", "near 0": "0 is best"}
_KINDS = {"judge": "Judges", "metric": "Metrics", "stand_in": "Stand-in judges"}


class MeasureColumn(NamedTuple):
    """A column of the front page, of the site in a folder below `root`, where a page leads to.

    `measure` is None of a benchmark without a report.
    """

    folder: str
    title: str
    measure: Measure | None


def overview(columns: Sequence[MeasureColumn], profiles: Sequence[Profile]) -> Table:
    """A line per judge or metric: results and trials, and what would fill each empty cell.

    Who has most results comes first; trials are marked, and never ranked before results. An
    optional measure has a column where any of them has a number by it.
    """
    listed = [
        profile
        for profile in profiles
        if profile.kind != "stand_in" or profile.has(stand_ins=False)
    ]
    columns = _select_columns(columns, listed, is_stand_in=False)
    ordered = sorted(listed, key=lambda profile: -_results(columns, profile))
    bodies = [
        Body(title, [_line(columns, profile) for profile in ordered if profile.kind == kind])
        for kind, title in _KINDS.items()
    ]
    return Table("Judges and metrics", "Judge or metric", _groups(columns), bodies)


def stand_ins(columns: Sequence[MeasureColumn], profiles: Sequence[Profile]) -> Table:
    """Stand-in judges, and what models made of the pictures of stand-ins: no results."""
    listed = [profile for profile in profiles if profile.has(stand_ins=True)]
    columns = _select_columns(columns, listed, is_stand_in=True)
    lines = [_line(columns, profile, is_stand_in=True) for profile in listed]
    caption = "Stand-in judges and stand-in runs"
    return Table(caption, "Judge or metric", _groups(columns), [Body("", lines)])


def judge_numbers(
    columns: Sequence[MeasureColumn], profile: Profile, *, is_stand_in: bool
) -> Table:
    """Tabulate a judge's numbers: a body per benchmark, a line per measure and scope."""
    titles = dict.fromkeys((column.folder, column.title) for column in columns)
    bodies = [
        Body(
            title,
            [
                _benchmark_line(column.measure, standing, f"../{quote(folder)}/")
                for column in columns
                if column.folder == folder and column.measure is not None
                for standing in profile.select_standings(
                    folder, column.measure, stand_ins=is_stand_in
                )
            ],
        )
        for folder, title in titles
    ]
    caption = "Stand-in numbers" if is_stand_in else "Numbers"
    heads = [Head(label) for label in ("Value", "Of", "Rests on", "Put together on", "Which is")]
    return Table(caption, "Measure", [Group("", heads)], bodies)


def _select_columns(
    columns: Sequence[MeasureColumn], profiles: Sequence[Profile], *, is_stand_in: bool
) -> list[MeasureColumn]:
    """Leave out optional measures by which none of these has a number."""
    return [
        column
        for column in columns
        if column.measure is None
        or not column.measure.is_optional
        or any(
            profile.select_standings(column.folder, column.measure, stand_ins=is_stand_in)
            for profile in profiles
        )
    ]


def _groups(columns: Sequence[MeasureColumn]) -> list[Group]:
    return [
        Group(
            title,
            [
                Head(column.measure.name, BETTER[column.measure.better])
                if column.measure
                else Head("No report yet")
                for column in columns
                if column.folder == folder
            ],
        )
        for folder, title in dict.fromkeys((column.folder, column.title) for column in columns)
    ]


def _line(columns: Sequence[MeasureColumn], profile: Profile, *, is_stand_in: bool = False) -> Line:
    cells = [_cell(column, profile, is_stand_in=is_stand_in) for column in columns]
    changes = [month for course in profile.courses for month in course.changed_months]
    changed = f"answers changed in {', '.join(changes)}" if changes and not is_stand_in else ""
    small = "; ".join(filter(None, [profile.description, changed]))
    return Line(profile.name, cells, small, profile.page)


def _results(columns: Sequence[MeasureColumn], profile: Profile) -> int:
    return sum(
        standing.firmness == "result" and standing.value is not None
        for column in columns
        if column.measure is not None
        for standing in profile.select_standings(column.folder, column.measure)[:1]
    )


def _cell(column: MeasureColumn, profile: Profile, *, is_stand_in: bool) -> Cell:
    measure = column.measure
    standings = (
        profile.select_standings(column.folder, measure, stand_ins=is_stand_in) if measure else []
    )
    if standings:
        standings.sort(key=lambda standing: standing.value is None)
        return _firmest_cell(column, standings)._replace(
            fill=_completion(column, profile, standings[0])
        )
    if is_stand_in:
        return Cell("", note="none")
    if measure and measure.is_optional:
        return Cell("", note="not asked")
    return _empty(profile, column.folder)


def _completion(column: MeasureColumn, profile: Profile, standing: Standing) -> Fill | None:
    """Fill that completes a trial that was asked in part."""
    gap = profile.gaps.get(column.folder)
    if standing.firmness != "trial" or gap is None or not gap.command:
        return None
    return None if gap.price == NOTHING_TO_PAY else Fill(gap.price, gap.details, gap.command)


def _firmest_cell(column: MeasureColumn, standings: Sequence[Standing]) -> Cell:
    """The first of some standings by one measure, and how many more there are."""
    assert column.measure is not None
    first, others = standings[0], len(standings) - 1
    rests = f"{format_count(first.items)} {first.unit}" if first.items else ""
    more = f"{format_count(others)} more on its page" if others else ""
    return _valued(column.measure, first)._replace(
        hover="; ".join(filter(None, (rests, first.scope, first.date, more))),
        note=first.note or ("" if first.value is not None else "no number"),
        link=f"{quote(column.folder)}/{first.link}",
    )


def _valued(measure: Measure, standing: Standing) -> Cell:
    """The number and its interval; that of a trial is marked, and no column is sorted by it."""
    cell = WRITTEN[measure.written](standing.rate._replace(note=""))
    numbers = {**cell.numbers, "items": float(standing.items)} if cell.numbers else {}
    return mark_trial(cell._replace(numbers=numbers), standing.firmness)


def _empty(profile: Profile, folder: str) -> Cell:
    gap = profile.gaps.get(folder)
    if gap is None:
        return Cell("", note="not run")
    if not gap.price:
        return Cell("", note=gap.details)
    return Cell("", note="not run", fill=Fill(gap.price, gap.details, gap.command))


def _benchmark_line(measure: Measure, standing: Standing, root: str) -> Line:
    cells = [
        _valued(measure, standing)._replace(note=standing.note),
        Cell(standing.scope or "the benchmark"),
        Cell(f"{format_count(standing.items)} {standing.unit}", numbers={"": standing.items}),
        Cell(standing.date or "unknown"),
        Cell(FIRMNESS_WORDS[standing.firmness], link=f"{root}{standing.link}"),
    ]
    return Line(measure.name, cells, BETTER[measure.better])
