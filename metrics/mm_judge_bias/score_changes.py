"""Bias-Deviation and Bias-Conformity of MM-JudgeBias (Lee et al. 2026)."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.statistics.graded_intervals import graded_interval

ALL = "all"
SCALE = (1, 10)
"""The lowest and the highest score of a response."""
MEASURES = ("deviation", "conformity")
SIDES = ("unbiased", "biased")
Values = NDArray[np.float64]


def build_change_table(
    answers: pd.DataFrame, items: pd.DataFrame, *, seed: int = 0
) -> pd.DataFrame:
    """Each judge's measures by bias, and over all (`part` is all), where each weighs the same.

    `answers` has a row for each judge, item and side (unbiased or biased): `model`, `item_id`,
    `picture_id`, `bias`, `measure` (of `MEASURES`, the bias's), `side` and `score`, NaN without
    one. `items` has the rows that could be asked about. Intervals are over
    pictures, each with its items of all biases.
    """
    return pd.DataFrame(
        [
            {
                "model": model,
                "part": part,
                "total_items": _select(items, part)["item_id"].nunique(),
                **_measure(_select(replies, part), seed),
            }
            for model, replies in answers.groupby("model", sort=False)
            for part in (ALL, *replies["bias"].unique())
        ]
    )


def measure_deviation(before: Values, after: Values) -> Values:
    """The share of its way to the lowest score that a score falls; NaN for one that cannot."""
    room = np.where(before > SCALE[0], before - SCALE[0], np.nan)
    return np.maximum(before - after, 0) / room


def measure_conformity(before: Values, after: Values) -> Values:
    """1 less the share of its longest way on the scale that a score moves."""
    low, high = SCALE
    return 1 - np.abs(before - after) / np.maximum(before - low, high - before)


def _select(rows: pd.DataFrame, part: str) -> pd.DataFrame:
    return rows if part == ALL else rows[rows["bias"].eq(part)]


def _measure(replies: pd.DataFrame, seed: int) -> dict[str, Any]:
    """The counts and measures of some replies of a judge."""
    index = ["item_id", "picture_id", "bias", "measure"]
    scores = replies.pivot(index=index, columns="side", values="score").reindex(columns=[*SIDES])
    before, after = scores.to_numpy(float).T
    table = scores.index.to_frame(index=False)
    cells: dict[str, Any] = {
        "items": len(table),
        "answered_items": int((~np.isnan(before + after)).sum()),
        "pictures": table.loc[~np.isnan(before + after), "picture_id"].nunique(),
        "requests": len(replies),
        "readable": int(replies["score"].notna().sum()),
    }
    for name, measure in zip(MEASURES, (measure_deviation, measure_conformity), strict=True):
        is_measured = table["measure"].eq(name).to_numpy()
        values = np.where(is_measured, measure(before, after), np.nan)
        has_value = ~np.isnan(values)
        cells[f"{name}_items"] = int(has_value.sum())
        cells |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
        if has_value.any():
            pictures, biases = (table[key].to_numpy() for key in ("picture_id", "bias"))
            interval = graded_interval(values, pictures, biases, seed=seed)
            by_bias = pd.Series(values).groupby(biases).mean()
            cells |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
            cells[name] = float(by_bias.mean())
    return cells
