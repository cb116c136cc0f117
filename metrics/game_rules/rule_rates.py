"""Rates of right answers by the usual and by the inverse rule, about the same positions.

What is resampled is the position with all of its answers. Over both games a rate is the mean of
the games' rates.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.paired_intervals import paired_interval

ALL_GOALS = "all"
"""The goal of the row over all games and goals."""
_SEED = 0


def build_rule_table(answers: pd.DataFrame) -> pd.DataFrame:
    """The rates of each judge by game and goal, and over all.

    `answers` has a row per question: `model`, `game`, `goal`, `rule` (usual or inverse),
    `base_id`, `answer` (None where none can be read), `score` (1 right, 0 wrong or unparsed, NaN
    without an answer) and `usual` (1 where the answer is the usual rule's winner, 0 where it is
    the other side, NaN where none can be read).
    Columns: `right_usual`, `right_inverse`, `usual_answers` (under the inverse rule) and `change`
    (right answers by the inverse rule less those by the usual one, of positions answered under
    both), each with `_low` and `_high`; `positions`, `requests`, `answers` and `readable` (those
    that were not unparsed).
    """
    return pd.DataFrame(list(_iterate_rows(answers)))


def _iterate_rows(answers: pd.DataFrame) -> Iterator[Mapping[str, Any]]:
    for model, judged in answers.groupby("model", sort=False):
        yield {"model": model, "game": ALL_GOALS, "goal": ALL_GOALS, **_measure(judged)}
        for (game, goal), rows in judged.groupby(["game", "goal"], sort=False):
            yield {"model": model, "game": game, "goal": goal, **_measure(rows)}


def _measure(rows: pd.DataFrame) -> dict[str, Any]:
    usual, inverse = (rows[rows["rule"].eq(rule)] for rule in ("usual", "inverse"))
    keys = ["game", "goal", "base_id"]
    paired = usual.merge(inverse, on=keys, suffixes=("_usual", "_inverse"), validate="1:1")
    change = (paired["score_inverse"] - paired["score_usual"]).to_numpy(float)
    return {
        **_rate("right_usual", usual, "score"),
        **_rate("right_inverse", inverse, "score"),
        **_rate("usual_answers", inverse, "usual"),
        **_interval_cells("change", change, paired, paired_interval),
        "positions": rows.loc[rows["score"].notna(), "base_id"].nunique(),
        "requests": len(rows),
        "answers": int(rows["score"].notna().sum()),
        "readable": int(rows["answer"].notna().sum()),
    }


def _rate(name: str, rows: pd.DataFrame, column: str) -> dict[str, float]:
    return _interval_cells(name, rows[column].to_numpy(float), rows, stratified_interval)


def _interval_cells(
    name: str, values: np.ndarray[Any, np.dtype[np.float64]], rows: pd.DataFrame, method: Any
) -> dict[str, float]:
    """The mean over games of their means, and its interval; NaN without a value."""
    games, clusters = rows["game"].to_numpy(), rows["base_id"].to_numpy()
    means = pd.Series(values).groupby(games).mean().dropna()
    if means.empty:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
    low, high = method(values, clusters, games, seed=_SEED)
    return {name: float(means.mean()), f"{name}_low": low, f"{name}_high": high}
