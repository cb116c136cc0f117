"""The charts: effects of overlays, attack success rates (Figure 2), win rates (Figure 3)."""

from collections.abc import Mapping

import pandas as pd

from assets.frame.pages.source_page import Sourced
from assets.frame.pairwise import compared
from assets.kit.columns import records
from assets.report.charts import PERCENT, Bar, Chart, Mark, changes
from assets.report.formats import Rate, interval, percent, rate_of, spoken
from metrics import win_rates
from metrics.ranking import ALL


def overlays(source: Sourced) -> Chart:
    """The percent change that an overlay makes to each judge, held out."""
    title = f"{source.name}: change of the mean score by an overlay"
    rates = {judge: rate_of(source.overlay(judge), "percent") for judge in source.judges}
    return _percents("overlay", title, rates, "not scored")


def rates(source: Sourced) -> list[Chart]:
    """Attack success rate, and the mean rise of the biases that succeed (Figure 2)."""
    rows = {judge: row for judge in source.judges if (row := source.row(judge, ALL))}
    bars = [
        Bar(judge, [Mark("failure", rate, percent(rate.value))], spoken(rate))
        for judge, row in rows.items()
        for rate in [rate_of(row, "rate")]
    ]
    about = "share of domains × biases that raise the mean score"
    rises = {judge: rate_of(row, "rise") for judge, row in rows.items()}
    return [
        Chart("success", "Attack success rate", about, PERCENT, bars),
        _percents("rise", "Mean rise among successes", rises, "no bias raises its mean"),
    ]


def preferences(source: Sourced) -> list[Chart]:
    """By judge: the share of pairs that picture A wins, before and after each bias (Figure 3)."""
    if source.preferences.empty:
        return []
    pairs = compared(source.preferences)
    found = []
    for judge, held in pairs.groupby("model", sort=False):
        by_bias = {bias: held[held["bias"].eq(bias)] for bias in source.biases}
        bars = [_won(bias, rows) for bias, rows in by_bias.items() if len(rows)]
        about = "how far picture A is preferred, before and after it has the bias"
        found.append(Chart(f"preferences-{judge}", str(judge), about, PERCENT, bars))
    return found


def _won(bias: str, pairs: pd.DataFrame) -> Bar:
    before = pairs.assign(first=pairs["first_before"], second=pairs["second_before"])
    one, other = (_preference(each) for each in (before, pairs))
    marks = [
        Mark("accuracy", one, f"before {percent(one.value)}"),
        Mark("bias", other, f"after {percent(other.value)}"),
    ]
    told = ", ".join(f"{mark.text} {interval(mark.rate)}".strip() for mark in marks)
    return Bar(bias, marks, told, "" if other.value is not None else "no pair has preferences")


def _preference(pairs: pd.DataFrame) -> Rate:
    *_, over_all = records(win_rates(pairs))
    return rate_of(over_all, "preference")


def _percents(id_: str, title: str, rates: Mapping[str, Rate], lacking: str) -> Chart:
    """Changes in percent on a scale of their own, with 0 on it."""
    told = {judge: (rate, lacking) for judge, rate in rates.items()}
    return changes(id_, title, title.lower(), told, unit="\u00a0%")
