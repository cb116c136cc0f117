"""Whether judgements of illusions follow the parts that are compared.

Every picture is asked about twice: are its parts equal, and are they different? Either answer is a
judgement, "equal" or "different". Names and formulas of `consistent` (polarity-flip consistency),
`consistent_right` (polarity-flip accuracy), `consistent_wrong`, `fixed` (template fixation index)
and `multiplier` are VI-Probe's (Sun et al., CVPR 2026).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.cluster_intervals import stratified_interval

EVERY_ILLUSION = "all"
WITH, WITHOUT = "with", "without"
"""Values of the column `inducer`."""
MULTIPLIER = "multiplier"
_EPSILON = 0.001
"""Added to the multiplier's denominator, as the paper does."""
_COLUMNS = [
    *("model", "illusion", "inducer", "measure", "value", "value_low", "value_high"),
    *("clusters", "requests", "answers"),
]
_POLARITIES = ("equal", "different")
_PICTURE = ["illusion", "picture_id", "pair_id", "is_equal"]


def polarity_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row per model, illusion (or all), inducer and measure.

    `answers` has a row for each answer: `model`, `illusion`, `inducer` (with or without), the
    picture's name `picture_id`, `is_equal` (whether its parts are), `pair_id` (the picture of equal
    parts that it is paired with; its own where its parts are equal), the question's `polarity`
    (equal or different), and `judged_equal`: 1 or 0, NaN without a readable answer.

    - `right_equal`, `right_different`: the share of right answers about pictures whose parts are
      equal, or differ; one without a readable answer is missing.
    - `turns`: the share of pairs, of one polarity, in which both answers are right: the answer
      turns where the parts do.
    - `consistent`: the share of pictures to which both questions give the same judgement;
      `consistent_right` and `consistent_wrong` split it by the truth, `fixed` is the rest: one
      answer to opposite questions. Pictures without both answers are missing.
    - `multiplier` (once, at inducer `with`): `right_equal` less `right_different`, over the same
      difference without the inducer plus 0.001. It has no interval: its denominator may be near 0.

    A value is the mean over illusions, each counting alike. Its 95 % interval resamples `clusters`
    inside illusions: pictures of equal parts, each with all that differ from it. `requests` and
    `answers` count what a value would rest on and what it does rest on.
    """
    records: list[dict[str, Any]] = []
    for model, model_rows in answers.groupby("model", sort=False):
        parts = [(EVERY_ILLUSION, model_rows), *model_rows.groupby("illusion", sort=True)]
        for illusion, rows in parts:
            figures = {
                (inducer, measure): _summarize(values, seed)
                for inducer in (WITH, WITHOUT)
                for measure, values in _iterate_measures(rows[rows["inducer"].eq(inducer)])
            }
            labels = {"model": model, "illusion": illusion}
            records += [
                {**labels, "inducer": inducer, "measure": measure, **figure}
                for (inducer, measure), figure in figures.items()
            ]
            value = _compute_multiplier(figures)
            counts = {
                name: sum(
                    figure[name]
                    for (_, measure), figure in figures.items()
                    if measure[:5] == "right"
                )
                for name in ("clusters", "requests", "answers")
            }
            records.append(
                {**labels, "inducer": WITH, "measure": MULTIPLIER, "value": value, **counts}
            )
    return pd.DataFrame(records, columns=_COLUMNS)


def _iterate_measures(shown: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each measure's values, 1, 0 or NaN, with the illusion and cluster of each."""
    right = shown.assign(
        value=(shown["judged_equal"] == shown["is_equal"]).where(shown["judged_equal"].notna()),
        cluster=shown["pair_id"],
    )
    yield "right_equal", right[right["is_equal"]]
    yield "right_different", right[~right["is_equal"]]
    yield "turns", _pair(right)
    judged = shown.pivot(index=_PICTURE, columns="polarity", values="judged_equal")
    judged = judged.reindex(columns=[*_POLARITIES]).reset_index()
    judged["cluster"] = judged["pair_id"]
    has_both = judged[[*_POLARITIES]].notna().all(axis=1)
    is_same = judged["equal"] == judged["different"]
    is_right = judged["equal"] == judged["is_equal"]
    for measure, holds in (
        ("consistent", is_same),
        ("consistent_right", is_same & is_right),
        ("consistent_wrong", is_same & ~is_right),
        ("fixed", ~is_same),
    ):
        yield measure, judged.assign(value=holds.where(has_both))


def _pair(right: pd.DataFrame) -> pd.DataFrame:
    """Pair each answer about parts that differ with that to its picture of equal parts."""
    equal, different = right[right["is_equal"]], right[~right["is_equal"]]
    pairs = different.merge(
        equal[["picture_id", "polarity", "value"]],
        left_on=["pair_id", "polarity"],
        right_on=["picture_id", "polarity"],
        suffixes=("", "_equal"),
    )
    both = pairs["value"].astype(float) * pairs["value_equal"].astype(float)
    return pairs.assign(value=both)


def _summarize(values: pd.DataFrame, seed: int) -> dict[str, Any]:
    scored = values.assign(value=values["value"].astype(float)).dropna(subset="value")
    counts = {
        "clusters": scored.groupby("illusion")["cluster"].nunique().sum(),
        "requests": len(values),
        "answers": len(scored),
    }
    if scored.empty:
        return {"value": np.nan, "value_low": np.nan, "value_high": np.nan, **counts}
    low, high = stratified_interval(
        scored["value"],
        scored["cluster"].to_numpy(str),
        scored["illusion"].to_numpy(str),
        seed=seed,
    )
    mean = scored.groupby("illusion")["value"].mean().mean()
    return {"value": float(mean), "value_low": low, "value_high": high, **counts}


def _compute_multiplier(figures: Mapping[tuple[str, str], Mapping[str, Any]]) -> float:
    with_drop, without_drop = (
        figures[inducer, "right_equal"]["value"] - figures[inducer, "right_different"]["value"]
        for inducer in (WITH, WITHOUT)
    )
    return float(with_drop / (without_drop + _EPSILON))
