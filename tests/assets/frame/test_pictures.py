"""One picture with several texts is one picture: in intervals, and in the halves of a search."""

import numpy as np
import pandas as pd
import pytest

from assets.frame.inflation import build_inflation_rows
from assets.frame.search import HELD_OUT, IN_SAMPLE, join_originals, search_biases
from generators.perturbations.grids import GRID
from generators.perturbations.registry import to_json
from metrics.frame.inflation import measure_change

TEXTS = 5
NOTHING = pd.DataFrame()
GAMMA = [to_json([each]) for each in GRID["gamma"][:5]]


def scored(random, pictures, rise=0.0, tried=GAMMA):
    """Scores of pictures by five texts each, of which a configuration moves most alike.

    Before they are 2 on average, and after by `rise` more.
    """
    shape = (pictures, TEXTS)
    before = 2.0 + random.choice([-1, 0, 0, 1], shape)
    tables = [("none", "[]", before)]
    for parameters in tried:
        moved = random.choice([-1, 0, 0, 1], (pictures, 1)) * (random.random(shape) < 0.8)
        tables.append(("gamma", parameters, before + moved + (random.random(shape) < rise)))
    picture, text = np.indices(shape).reshape(2, -1).astype(str)
    known = {
        "model": "eye",
        "domain": "animals",
        "image_id": np.char.add(np.char.add(picture, "-"), text),
        "original": picture,
        "template": "standard",
        "readable": None,
    }
    return pd.concat(
        pd.DataFrame(known | {"bias": bias, "parameters": each, "score": scores.ravel()})
        for bias, each, scores in tables
    ).reset_index(drop=True)


def rows_of(scores):
    """The rows of `frame/inflation` of one bias, by how its configuration was chosen."""
    search = pd.DataFrame(search_biases(join_originals(scores), 0))
    search = search.assign(domain="animals", seed=0, is_stand_in=False)
    rows = pd.DataFrame(build_inflation_rows(scores, search, NOTHING, NOTHING))
    rows = rows[rows["domain"].eq("animals") & rows["picture_subset"].eq("all")]
    return {row["choice"]: row for row in rows.to_dict("records")}


@pytest.mark.slow
def test_intervals_of_pictures_with_five_texts_cover_the_truth():
    """By text, as if five were independent, they cover it in 70 %."""
    random, rounds, covered = np.random.default_rng(2), 100, 0
    for _ in range(rounds):
        change = measure_change(join_originals(scored(random, 40, 0.3, GAMMA[:1])))
        assert (change.images, change.scored, change.unscored) == (40, 200, 0)
        covered += change.interval.low <= 15 <= change.interval.high
    assert covered >= rounds * (0.95 - 3 * np.sqrt(0.95 * 0.05 / rounds))


def test_what_is_held_out_shares_no_picture_with_what_is_chosen_on():
    """Without an effect it is 0 on average; by text, the halves share pictures, and it is not."""
    random, found = np.random.default_rng(3), []
    for _ in range(40):
        rows = {row["choice"]: row for row in search_biases(join_originals(scored(random, 24)), 0)}
        assert (rows[IN_SAMPLE]["images"], rows[HELD_OUT]["images"]) == (24, 12)
        found.append((rows[IN_SAMPLE]["percent"], rows[HELD_OUT]["percent"]))
    in_sample, held_out = np.array(found).T
    error = held_out.std() / np.sqrt(len(held_out))
    assert abs(held_out.mean()) < 2.5 * error
    assert in_sample.mean() > 5 * error


def test_one_configuration_is_no_choice_and_all_pictures_count():
    rows = rows_of(scored(np.random.default_rng(4), 24, tried=GAMMA[:1]))
    assert rows[HELD_OUT]["images"] == rows[IN_SAMPLE]["images"] == 24
    names = ["biased", "percent", "percent_low", "percent_high"]
    assert [rows[HELD_OUT][n] for n in names] == [rows[IN_SAMPLE][n] for n in names]


@pytest.mark.parametrize("pictures", [2, 3, 25, 200])
def test_an_interval_stays_within_what_the_scale_allows(pictures):
    """From 2 to 5 of 5 is 150 % more, and nothing can be more than that."""
    scores = scored(np.random.default_rng(1), pictures, tried=GAMMA[:1])
    scores["score"] = np.where(scores["bias"].eq("none"), 2.0, 5.0)
    row = rows_of(scores)[HELD_OUT]
    assert (row["percent"], row["percent_high"]) == (150, 150)
    assert -100 < row["percent_low"] < 150
    scores["score"] = np.where(scores["bias"].eq("none"), 2.0, 0.0)
    row = rows_of(scores)[HELD_OUT]
    assert (row["percent"], row["percent_low"]) == (-100, -100)
    assert -100 < row["percent_high"] < 150
