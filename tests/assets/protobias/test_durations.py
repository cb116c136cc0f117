"""Seconds a pair, of scores whose calls are made up here."""

import pandas as pd

from assets.protobias.durations import pair_durations
from assets.protobias.pages.figures import Duration

SECONDS = {"a": 1.0, "b": 2.0, "c": 3.5, "d": 0.5, "e": 10.0}


def scored(metric, pair_id, calls, domain="animals"):
    return {"metric": metric, "domain": domain, "pair_id": pair_id, "calls": calls}


def test_a_pair_takes_what_the_requests_for_both_pictures_take():
    """`e` was sent alone, `f` in a batch: of their pair nothing is known."""
    scores = pd.DataFrame(
        [
            scored("clip", "penguin/0", ["a"]),
            scored("clip", "penguin/0", ["b"]),
            scored("clip", "penguin/0", ["c"], "objects"),
            scored("clip", "penguin/0", ["d", "a"], "objects"),
            scored("clip", "robin/0", ["e"]),
            scored("clip", "robin/0", ["f"]),
            scored("batched", "robin/0", ["f"]),
            scored("prior", "robin/0", []),
        ]
    )
    durations = pair_durations(scores, lambda keys: {k: SECONDS[k] for k in keys if k in SECONDS})
    assert durations == {"clip": Duration(seconds=(3.0 + 5.0) / 2, pairs=2)}
