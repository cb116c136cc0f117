"""The charts: effects of overlays, attack success rates (Figure 2), win rates (Figure 3)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from assets.frame.pages.finding import change, ends, signed
from assets.frame.pages.source_page import Sourced
from assets.frame.pairwise import compared
from assets.report.charts import PERCENT, Bar, Chart, Mark, scale_with_zero
from assets.report.formats import Rate, interval, percent
from metrics import win_rates
from metrics.ranking import ALL


def overlays(source: Sourced) -> Chart:
    """The percent change that an overlay makes to each judge, held out."""
    rows = {judge: source.overlay(judge) for judge in source.judges}
    return _percents("overlay", f"{source.name}: change of the mean score by an overlay", rows)


def rates(source: Sourced) -> list[Chart]:
    """Attack success rate, and the mean rise of the biases that succeed (Figure 2)."""
    rows = {judge: row for judge in source.judges if (row := source.row(judge, ALL))}
    bars = [_share(judge, _rate(row, "rate")) for judge, row in rows.items()]
    about = "share of domains × biases that raise the mean score"
    rises = {
        judge: {f"percent{end}": row[f"rise{end}"] for end in ("", "_low", "_high")}
        for judge, row in rows.items()
    }
    return [
        Chart("success", "Attack success rate", about, PERCENT, bars),
        _percents("rise", "Mean rise among successes", rises),
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
    spoken = ", ".join(f"{mark.text} {interval(mark.rate)}".strip() for mark in marks)
    return Bar(bias, marks, spoken, "" if other.value is not None else "no pair has preferences")


def _preference(pairs: pd.DataFrame) -> Rate:
    row = win_rates(pairs).set_index("domain").loc[ALL]
    return _rate(row, "preference")


def _rate(row: Any, name: str) -> Rate:
    number, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return Rate(None) if pd.isna(number) else Rate(number, low, high)


def _share(label: str, rate: Rate) -> Bar:
    text = percent(rate.value)
    return Bar(label, [Mark("failure", rate, text)], f"{text} {interval(rate)}".strip())


def _percents(id_: str, title: str, rows: Mapping[str, Mapping[str, Any] | None]) -> Chart:
    """Changes in percent on a scale of their own, with 0 on it."""
    there = [row for row in rows.values() if row and row["percent"] is not None]
    low, high = scale_with_zero(
        [row[f"percent{end}"] for row in there for end in ("", "_low", "_high")]
    )

    def at(number: float | None) -> float | None:
        return None if number is None else (number - low) / (high - low)

    def bar(judge: str, row: Mapping[str, Any] | None) -> Bar:
        if row is None or row["percent"] is None:
            why = "no bias raises its mean" if row else "not scored"
            return Bar(judge, [Mark("failure", Rate(None), "")], "", why)
        value, least, most = (at(row[f"percent{end}"]) for end in ("", "_low", "_high"))
        rate = Rate(value, least, most)
        told = f"{change(row)} {ends(row)}"
        return Bar(judge, [Mark("failure", rate, change(row))], told)

    ticks = [signed(low + (high - low) * step / 4).removesuffix(".0") for step in range(5)]
    ticks[-1] += "\u00a0%"
    return Chart(id_, title, title.lower(), ticks, [bar(*each) for each in rows.items()])
