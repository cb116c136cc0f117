"""How often people would fail on all pairs, by each metric's scores of all and theirs of a sample.

A pair fails where its adversarial picture is scored at least as high as the correct one. Prompts
are clusters, domains are strata (`metrics.statistics.people_estimates`).
"""

import pandas as pd

from metrics.protobias.normalization import HUMAN
from metrics.protobias.scored_pairs import pair_scores
from metrics.statistics.people_estimates import estimate_people

_EVALUATED = "evaluated"
_NAMES = {"pair_id": "item", "concept_id": "cluster", "domain": "stratum", "metric": "judge"}


def estimate_failures(
    scores: pd.DataFrame, chances: "pd.Series[float] | None" = None
) -> pd.DataFrame:
    """Estimate people's failure rate over all evaluated pairs of a painter, once by each metric.

    `scores` has one row per picture as `pair_scores` takes it, of the samples `evaluated` and
    `human`, and `chances` the chance of each sampled pair, by `pair_id`, where these differ.
    Returns the columns of `estimate_people`, with pairs as items.
    """
    pairs = pair_scores(scores).dropna(subset="fails")
    is_human = pairs["metric"].eq(HUMAN)
    people = pairs[is_human].drop_duplicates("pair_id").set_index("pair_id")["fails"]
    evaluated = pairs[pairs["sample"].eq(_EVALUATED) & ~is_human].rename(columns=_NAMES)
    items = evaluated.drop_duplicates("item")
    items = items.assign(label=items["item"].map(people).astype(float))
    if chances is not None:
        items = items.assign(chance=items["item"].map(chances))
    return estimate_people(items, evaluated.rename(columns={"fails": "prediction"}))
