"""How many base images are left after each stage."""

from collections import defaultdict
from collections.abc import Sequence

import pandas as pd

from assets.kit.pictures import Row

PREPARED = ("base_images", "painted", "edited", "passed")
PUBLISHED = ("accepted", "unreviewed")
"""The stages in their order. Passed is what no check has failed; what is accepted by a person, or
unreviewed as long as nobody has decided, is published, and the rest is dropped."""


def published_id(base_id: str, painter: str) -> str:
    """The base id of a painter's photograph: pictures of one subject by two painters are two."""
    return f"{base_id}/{painter}"


def retention(candidates: Sequence[Row], photographs: Sequence[Row] | None = None) -> pd.DataFrame:
    """Counterfactual base images by painter and subtopic, and how many came through each stage.

    The arguments are rows of the tables of those names; without `photographs` the stages end with
    `passed`.
    """
    reviews = {row["base_id"]: row["review"] for row in photographs or ()}
    trials = defaultdict(list)
    for row in candidates:
        if row["variant"] == "counterfactual":
            trials[row["painter"], row["subtopic"], row["base_id"]].append(row)
    stages = PREPARED if photographs is None else PREPARED + PUBLISHED
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for (painter, subtopic, base_id), rows in trials.items():
        pictures = [row for row in rows if row["outcome"] == "candidate"]
        review = reviews.get(published_id(base_id, painter))
        reached = {
            "base_images": True,
            "painted": any(row["outcome"] != "unpainted" for row in rows),
            "edited": bool(pictures),
            "passed": any(row["check"] != "failed" for row in pictures),
            "accepted": review == "accepted",
            "unreviewed": review == "unreviewed",
        }
        counted = counts.setdefault((painter, subtopic), dict.fromkeys(stages, 0))
        for stage in stages:
            counted[stage] += reached[stage]
    return pd.DataFrame(
        [
            {"painter": painter, "subtopic": subtopic, **counted}
            for (painter, subtopic), counted in counts.items()
        ],
        columns=["painter", "subtopic", *stages],
    )
