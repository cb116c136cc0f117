"""Combinations and templates: chosen on one half of the pictures, reported on the other."""

import pandas as pd
import pytest

from assets.frame.inflation import build_inflation_rows
from assets.frame.search import join_originals, search_biases
from generators.perturbations.grids import GRID
from generators.perturbations.registry import to_json
from metrics import select_half

NAMES = [f"p/{number}" for number in range(40)]
HALF = select_half(NAMES)
"""The pictures on which is chosen."""
GAMMA, PADDING = GRID["gamma"][:2], GRID["padding"][:1]
PAIRS = [(one, *PADDING) for one in GAMMA]


def scores(*tried, template="standard", rise):
    """2 for each picture as it was, and by how much more with each configuration."""
    rows = [((), 0.0, name) for name in NAMES]
    rows += [(each, rise(each, name in HALF), name) for each in tried for name in NAMES]
    return pd.DataFrame(
        {
            "model": "eye",
            "domain": "animals",
            "image_id": name,
            "original": name,
            "bias": "+".join(part.name for part in each) or "none",
            "parameters": to_json(each),
            "sha256": name,
            "readable": None,
            "template": template,
            "score": 2.0 + more,
        }
        for each, more, name in rows
    )


def lucky(each, is_chosen_on):
    """The first γ raises scores on the half that chooses alone, the second on the other alone."""
    of_gamma = GAMMA[0] in each, GAMMA[1] in each
    more = {(True, False): is_chosen_on, (False, True): 1.5 * (not is_chosen_on)}
    return float(more.get(of_gamma, 0)) + 0.25 * (PADDING[0] in each)


@pytest.fixture(scope="module")
def rows():
    alone = scores(*((each,) for each in (*GAMMA, *PADDING)), rise=lucky)
    search = pd.DataFrame(search_biases(join_originals(alone), 0))
    search = search.assign(domain="animals", seed=0, is_stand_in=False)
    combined = scores(*PAIRS, rise=lucky)
    asked = pd.concat(
        scores(*((each,) for each in (*GAMMA, *PADDING)), template=name, rise=rise)
        for name, rise in (("standard", lucky), ("bias_aware", lambda each, is_half: 0.5))
    )
    return pd.DataFrame(build_inflation_rows(alone, search, combined, asked))


def one(rows, **where):
    for column, value in where.items():
        rows = rows[rows[column] == value]
    (row,) = rows.to_dict("records")
    return row


def test_a_pair_that_was_lucky_on_one_half_is_reported_on_the_other(rows):
    pair = {"experiment": "combined", "bias": "gamma+padding", "domain": "animals"}
    in_sample, held_out = (one(rows, **pair, choice=each) for each in ("in_sample", "held_out"))
    assert (in_sample["images"], in_sample["biased"]) == (40, 2 + 1.5 / 2 + 0.25)
    assert (held_out["images"], held_out["biased"]) == (20, 2.25)


def test_of_each_size_the_best_is_held_out_and_no_mean_is_over_domains(rows):
    held_out = rows[(rows["experiment"] == "combined") & (rows["choice"] == "held_out")]
    assert set(held_out["domain"]) == {"animals"}
    assert held_out["bias"].tolist() == ["gamma", "gamma+padding"]
    assert held_out["biased"].tolist() == [2.0, 2.25]


def test_every_template_is_on_the_same_pictures(rows):
    of = {"experiment": "templates", "domain": "animals", "bias": "gamma"}
    standard = one(rows, **of, template="standard", choice="held_out")
    aware = one(rows, **of, template="bias_aware", choice="held_out")
    assert (standard["images"], standard["biased"]) == (20, 2.0)
    assert (aware["images"], aware["biased"]) == (20, 2.5)
    assert one(rows, **of, template="standard", choice="in_sample")["biased"] == 2.75


def test_templates_are_compared_over_the_domains_that_have_objects():
    """Table 5: without outdoor throughout, whatever the bias, and so each mean before is one."""
    tables = {
        domain: scores(
            *((each,) for each in (*GAMMA, *PADDING)), rise=lambda *_, rise=rise: rise
        ).assign(domain=domain)
        for domain, rise in (("animals", 0.5), ("indoor", 1.0), ("outdoor", 4.0))
    }
    asked = pd.concat(tables.values())
    search = pd.concat(
        pd.DataFrame(search_biases(join_originals(held), 0)).assign(domain=domain)
        for domain, held in tables.items()
    ).assign(seed=0, is_stand_in=False)
    rows = pd.DataFrame(build_inflation_rows(asked, search, pd.DataFrame(), asked))
    of = {"domain": "all", "bias": "padding", "choice": "in_sample", "template": "standard"}
    assert one(rows, **of, experiment="templates")["biased"] == pytest.approx(2 + 0.75)
    assert one(rows, **of, experiment="single", picture_subset="all")["biased"] > 3.8
    whole = one(rows, **(of | {"bias": "all"}), experiment="templates")
    assert whole["combinations"] == 2 * 2
    assert set(rows[rows["experiment"] == "templates"]["domain"]) == {
        *("animals", "indoor", "outdoor", "all")
    }


def test_one_pair_of_biases_with_one_configuration_each_is_no_choice():
    alone = scores(*((each,) for each in (GAMMA[0], *PADDING)), rise=lucky)
    search = pd.DataFrame(search_biases(join_originals(alone), 0))
    search = search.assign(domain="animals", seed=0, is_stand_in=False)
    combined = scores(PAIRS[0], rise=lucky)
    rows = pd.DataFrame(build_inflation_rows(alone, search, combined, pd.DataFrame()))
    held_out = rows[rows["experiment"].eq("combined") & rows["choice"].eq("held_out")]
    images = held_out.set_index("bias")["images"].to_dict()
    # Which of the two biases is the better one alone was chosen on one half.
    assert images == {"gamma": 20, "gamma+padding": 40}


def test_a_picture_that_cannot_have_a_bias_is_no_failure_and_one_without_a_score_is():
    """Of 40 pictures 10 show no face: nobody was asked. Of the other 30, 3 have no score."""
    faceless, failed = set(NAMES[:10]), NAMES[10:13]
    beauty, pair = GRID["beauty"][:1], (*GRID["beauty"], *PADDING)
    alone = scores(beauty, PADDING, rise=lambda *_: 0.5)
    alone = alone[~(alone["bias"].eq("beauty") & alone["image_id"].isin(faceless))]
    alone.loc[alone["bias"].eq("beauty") & alone["image_id"].isin(failed), "score"] = None
    search = pd.DataFrame(search_biases(join_originals(alone), 0))
    search = search.assign(domain="people", seed=0, is_stand_in=False)
    combined = scores(pair, rise=lambda *_: 1.0)
    impossible = combined["bias"].ne("none") & combined["image_id"].isin(faceless)
    combined.loc[impossible, ["sha256", "score"]] = None
    frames = (each.assign(domain="people") for each in (alone, combined))
    alone, combined = frames
    rows = pd.DataFrame(build_inflation_rows(alone, search, combined, alone.head(0)))
    in_sample = {"domain": "people", "picture_subset": "all", "choice": "in_sample"}
    counts = {
        bias: (row["images"], row["unscored"])
        for bias in ("beauty", "padding", "beauty+padding")
        for row in [one(rows, **in_sample, bias=bias)]
    }
    assert counts == {"beauty": (27, 3), "padding": (40, 0), "beauty+padding": (30, 0)}
