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
    change,
    margin,
    mark_trial,
    points,
    share,
)
from assets.report.formats import FIRMNESS_WORDS, Rate, count
from assets.report.profiles import Profile
from assets.report.roster import NOTHING_TO_PAY
from assets.report.standings import Measure, Standing

WRITTEN: Mapping[str, Callable[[Rate], Cell]] = {
    "share": share,
    "score": margin,
    "change": change,
    "points": points,
}
"""By how a measure is written: what makes a cell of its number."""
BETTER = {"higher": "higher is better", "lower": "lower is better", "near 0": "0 is best"}
_KINDS = {"judge": "Judges", "metric": "Metrics", "reference": "Reference judges"}


class Column(NamedTuple):
    """A column of the front page, of the site in a folder below `root`, where a page leads to.

    `measure` is None of a benchmark without a report.
    """

    folder: str
    title: str
    measure: Measure | None


def overview(columns: Sequence[Column], profiles: Sequence[Profile]) -> Table:
    """A line a judge or metric: results and trials, and what would fill each empty cell.

    Who has most results comes first; trials are marked, and never ranked before results.
    """
    listed = [each for each in profiles if each.kind != "reference" or each.has(stand_ins=False)]
    ordered = sorted(listed, key=lambda each: -_results(columns, each))
    bodies = [
        Body(
            title,
            [
                Line(each.name, [_cell(c, each) for c in columns], each.told, each.page)
                for each in ordered
                if each.kind == kind
            ],
        )
        for kind, title in _KINDS.items()
    ]
    return Table("Judges and metrics", "Judge or metric", _groups(columns), bodies)


def stand_ins(columns: Sequence[Column], profiles: Sequence[Profile]) -> Table:
    """Reference judges, and what models made of the pictures of stand-ins: no results."""
    lines = [
        Line(each.name, [_cell(c, each, True) for c in columns], each.told, each.page)
        for each in profiles
        if each.has(stand_ins=True)
    ]
    caption = "Reference judges and stand-in runs"
    return Table(caption, "Judge or metric", _groups(columns), [Body("", lines)])


def judge_numbers(columns: Sequence[Column], profile: Profile, *, is_stand_in: bool) -> Table:
    """Every number on a judge's page: a body a benchmark, a line a measure and what it is of."""
    titles = dict.fromkeys((column.folder, column.title) for column in columns)
    bodies = [
        Body(
            title,
            [
                _whole(column.measure, standing, f"../{quote(folder)}/")
                for column in columns
                if column.folder == folder and column.measure is not None
                for standing in profile.by(folder, column.measure, stand_ins=is_stand_in)
            ],
        )
        for folder, title in titles
    ]
    caption = "Stand-in numbers" if is_stand_in else "Numbers"
    heads = [Head(each) for each in ("Value", "Of", "Rests on", "Put together on", "Which is")]
    return Table(caption, "Measure", [Group("", heads)], bodies)


def _groups(columns: Sequence[Column]) -> list[Group]:
    return [
        Group(
            title,
            [
                Head(each.measure.name, BETTER[each.measure.better])
                if each.measure
                else Head("No report yet")
                for each in columns
                if each.folder == folder
            ],
        )
        for folder, title in dict.fromkeys((each.folder, each.title) for each in columns)
    ]


def _results(columns: Sequence[Column], profile: Profile) -> int:
    return sum(
        each.firmness == "result" and each.value is not None
        for column in columns
        if column.measure is not None
        for each in profile.by(column.folder, column.measure)[:1]
    )


def _cell(column: Column, profile: Profile, is_stand_in: bool = False) -> Cell:
    of = column.measure
    held = profile.by(column.folder, of, stand_ins=is_stand_in) if of else []
    if held:
        return _shown(column, held)._replace(fill=_completion(column, profile, held[0]))
    return Cell("", note="none") if is_stand_in else _empty(profile, column.folder)


def _completion(column: Column, profile: Profile, standing: Standing) -> Fill | None:
    """What asks the rest of what a trial was asked a part of."""
    gap = profile.gaps.get(column.folder)
    if standing.firmness != "trial" or gap is None or not gap.command:
        return None
    return None if gap.price == NOTHING_TO_PAY else Fill(gap.price, gap.told, gap.command)


def _shown(column: Column, held: Sequence[Standing]) -> Cell:
    """The firmest of some standings by one measure, and how many more there are."""
    assert column.measure is not None
    first, others = held[0], len(held) - 1
    rests = f"{count(first.items)} {first.unit}" if first.items else ""
    more = f"{count(others)} more on its page" if others else ""
    return _valued(column.measure, first)._replace(
        below=[each for each in (rests, first.of, first.date, more) if each],
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
        return Cell("", note=gap.told)
    return Cell("", note="not run", fill=Fill(gap.price, gap.told, gap.command))


def _whole(measure: Measure, standing: Standing, root: str) -> Line:
    cells = [
        _valued(measure, standing)._replace(note=standing.note),
        Cell(standing.of or "the benchmark"),
        Cell(f"{count(standing.items)} {standing.unit}", numbers={"": standing.items}),
        Cell(standing.date or "unknown"),
        Cell(FIRMNESS_WORDS[standing.firmness], link=f"{root}{standing.link}"),
    ]
    return Line(measure.name, cells, BETTER[measure.better])
