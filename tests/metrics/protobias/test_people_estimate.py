"""People's failure rate on all pairs: by hand from pairs, and what a good metric gains."""

import numpy as np
import pandas as pd
import pytest

from metrics import powered_mean
from metrics.protobias.people_estimate import estimate_failures


def build_scores(pairs=120, sampled=30, agreement=1.0, domains=("animals", "objects")):
    """Scores of a metric that agrees with people on a share of pairs; people fail on a fifth."""
    rng = np.random.default_rng(4)
    rows = []
    for domain in domains:
        for pair in range(pairs):
            has_failed = rng.random() < 0.2
            verdicts = [("clip", "evaluated", has_failed == (rng.random() < agreement))]
            if pair < sampled:
                verdicts += [("clip", "human", verdicts[0][2]), ("human", "human", has_failed)]
            for metric, sample, fails in verdicts:
                scores = {"correct": 1 - fails, "adversarial": 0.5}
                for side, score in scores.items():
                    row = dict.fromkeys(("painter", "knob", "concept", "same_family"), "x")
                    row |= {"sample": sample, "metric": metric, "formula": "f", "domain": domain}
                    row |= {"is_stand_in": False, "concept_id": f"{domain}/{pair // 2}"}
                    row |= {"pair_id": f"{domain}/{pair}", "side": side}
                    rows.append(row | {"raw": float(score), "score": float(score)})
    return pd.DataFrame(rows)


def test_it_is_the_powered_mean_of_failures():
    scores = build_scores(agreement=0.9)
    alone, clip = estimate_failures(scores).to_dict("records")
    correct = scores[scores["side"].eq("correct")].set_index("pair_id")
    evaluated = correct[correct["sample"].eq("evaluated")]
    fails = evaluated["score"].eq(0).astype(float)
    people = correct[correct["metric"].eq("human")]["score"].eq(0).astype(float)
    labels = people.reindex(evaluated.index)
    powered, plain = (
        powered_mean(predictions, labels, evaluated["concept_id"], evaluated["domain"])
        for predictions in (fails, 0 * fails)
    )
    assert (clip["judge"], clip["items"], clip["sampled"]) == ("clip", 240, 60)
    assert clip["mean"] == pytest.approx(powered.mean)
    assert (clip["low"], clip["high"]) == pytest.approx(tuple(powered.interval))
    assert clip["reliance"] == pytest.approx(powered.reliance)
    assert (alone["judge"], alone["items"], alone["sampled"]) == ("people", 240, 60)
    assert alone["mean"] == pytest.approx(plain.mean) == pytest.approx(people.mean())
    assert (alone["low"], alone["high"]) == pytest.approx(tuple(plain.interval))
    assert alone["reliance"] == 0
    assert clip["high"] - clip["low"] < alone["high"] - alone["low"]


def test_without_enough_people_there_is_nothing():
    columns = ["judge", "items", "sampled", "mean", "low", "high", "reliance"]
    for scores in (
        build_scores(sampled=0),
        build_scores(sampled=4),  # two prompts of a domain
        pd.concat([build_scores(domains=("animals",)), build_scores(sampled=0)[240:]]),
    ):
        estimates = estimate_failures(scores)
        assert list(estimates.columns) == columns
        assert estimates.empty
    assert len(estimate_failures(build_scores(sampled=5))) == 2


def test_a_metric_is_estimated_by_the_pairs_that_it_has_scored():
    scores = build_scores(agreement=0.9)
    is_first = scores["pair_id"].eq("animals/0") & scores["metric"].eq("clip")
    scores.loc[is_first & scores["side"].eq("correct"), ["raw", "score"]] = np.nan
    alone, clip = estimate_failures(scores).to_dict("records")
    assert (clip["items"], clip["sampled"]) == (239, 59)
    assert (alone["items"], alone["sampled"]) == (239, 59)


def test_pairs_weigh_by_the_chance_of_their_draw():
    scores = build_scores(agreement=0.9)
    names = scores["pair_id"].unique()
    chances = pd.Series(np.where(np.arange(len(names)) % 3, 0.2, 0.6), names)
    _, clip = estimate_failures(scores, chances).to_dict("records")
    pairs = scores[scores["side"].eq("correct")].set_index("pair_id")
    evaluated = pairs[pairs["sample"].eq("evaluated")]
    people = pairs[pairs["metric"].eq("human")]["score"].eq(0).astype(float)
    expected = powered_mean(
        evaluated["score"].eq(0).astype(float),
        people.reindex(evaluated.index),
        evaluated["concept_id"],
        evaluated["domain"],
        probabilities=chances.reindex(evaluated.index),
    )
    assert (clip["mean"], clip["low"], clip["high"]) == pytest.approx(
        (expected.mean, *expected.interval)
    )
    # A pair of an unfinished sheet has no chance, and does not count.
    chances[people.index[:10]] = np.nan
    assert estimate_failures(scores, chances)["sampled"].tolist() == [50, 50]
