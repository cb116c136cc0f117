"""Tables of rates with a line per judge."""

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from urllib.parse import quote

from assets.report.cells import Body, Cell, Head, Line, Table, mark_trial, rate_numbers
from assets.report.columns import group_heads
from assets.report.formats import Rate, Shares, format_interval, format_percent, format_points
from assets.vlmbias.pages.judges import PromptedJudge


def judge_table(
    caption: str,
    heads: Sequence[tuple[str, Head]],
    rates: Mapping[PromptedJudge, Sequence[Rate]],
    asked_judges: Collection[PromptedJudge],
    *,
    mean: bool = False,
) -> Table:
    """A line per judge, with a link to the wrong answers of those that were asked anything.

    `heads` are its columns, each with the label of its group. The stand-in judges have a body of
    their own; with `mean` the last line of several models is their mean, as in the paper's tables.
    """
    models, stand_ins = (
        [
            _line(judge, rates[judge], is_asked=judge in asked_judges)
            for judge in rates
            if judge.is_stand_in == is_stand_in
        ]
        for is_stand_in in (False, True)
    )
    if mean and len(models) > 1:
        columns = zip(*(rates[judge] for judge in rates if not judge.is_stand_in), strict=True)
        models.append(Line("Mean", [_cell(_mean(column)) for column in columns], kind="mean"))
    bodies = [Body("Models", models), Body("Stand-in judges", stand_ins)]
    return Table(caption, "Judge", group_heads(heads), bodies)


def _line(judge: PromptedJudge, rates: Sequence[Rate], *, is_asked: bool) -> Line:
    return Line(
        judge.model,
        [_cell(rate) for rate in rates],
        "stand-in" if judge.is_stand_in else "",
        f"gallery.html#size=all&wrong={quote(judge.name, safe='')}" if is_asked else "",
        f"Wrong answers of {judge.name} in the gallery",
    )


def _cell(rate: Rate) -> Cell:
    text = "" if rate.value is None and rate.note else format_percent(rate.value)
    change = format_points(rate.change) if rate.change else ""
    cell = Cell(text, format_interval(rate), rate.note, rate_numbers(rate), change, rate.bar)
    return mark_trial(cell, rate.firmness)


def _mean(rates: Sequence[Rate]) -> Rate:
    """The mean of those models' rates that are results, and how many there are."""
    results = [rate for rate in rates if rate.value is not None and rate.firmness != "trial"]
    if not results:
        return Rate(None)
    bars = [rate.bar for rate in results if rate.bar is not None]
    changes = [rate.change.value for rate in results if rate.change is not None]
    return Rate(
        fmean(rate.value for rate in results if rate.value is not None),
        note=f"{len(results)} of {len(rates)} models" if len(results) < len(rates) else "",
        change=Rate(fmean(c for c in changes if c is not None)) if changes else None,
        bar=Shares(fmean(b.right for b in bars), fmean(b.biased for b in bars)) if bars else None,
    )
