"""Pairs of pictures with a metric's scores of both sides (ProtoBias, §3.1)."""

import numpy as np
import pandas as pd

SIDES = ("correct", "adversarial")
_PAIR = [
    *("painter", "sample", "metric", "formula", "same_family", "is_stand_in"),
    *("domain", "knob", "concept", "concept_id", "pair_id"),
]


def pair_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Build one row per painter, sample, metric and pair, in order of first appearance.

    `scores` has one row per picture: the columns of the pair (painter, sample, metric, formula,
    same_family, is_stand_in, domain, knob, concept, concept_id, pair_id), `side` (correct or
    adversarial), `raw` and `score` (0 to 1), both null where there is none.

    Columns: those of the pair, and as floats, NaN unless both sides are scored:

    - `sc` and `pa`, the scores of the correct and of the adversarial picture;
    - `fails`, 1 where M(adv) ≥ M(corr) (eq. 5), else 0;
    - `tie`, 1 where they are equal, else 0.

    Which is the higher is read off `raw`: a scale from 0 to 1 may clip or round a difference away.
    """
    pairs = scores[_PAIR].drop_duplicates()
    for side in SIDES:
        side_rows = scores.loc[scores["side"] == side, [*_PAIR, "raw", "score"]]
        side_columns = side_rows.rename(columns={"raw": f"raw_{side}", "score": f"score_{side}"})
        pairs = pairs.merge(side_columns, "left", on=_PAIR, validate="1:1")
    raw_sc, raw_pa, sc, pa = (
        pairs[f"{name}_{side}"].to_numpy(np.float64, na_value=np.nan)
        for name in ("raw", "score")
        for side in SIDES
    )
    is_scored = ~np.isnan(raw_sc) & ~np.isnan(raw_pa)
    measures = {"sc": sc, "pa": pa, "fails": raw_pa >= raw_sc, "tie": raw_pa == raw_sc}
    return pairs[_PAIR].assign(
        **{name: np.where(is_scored, values, np.nan) for name, values in measures.items()}
    )
