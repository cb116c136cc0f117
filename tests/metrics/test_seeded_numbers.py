"""What all numbers that rest on resampling have in common: seeds, order of rows, columns."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from metrics import (
    correlate,
    correlate_ranks,
    graded_interval,
    outcome_rate_table,
    paired_interval,
    panel_tables,
    search_held_out,
    stratified_interval,
)
from metrics.frame.inflation import inflation_table, measure_success, measure_susceptibility
from metrics.frame.pairwise_preference import win_rates
from metrics.illusions.polarity import polarity_table
from metrics.philautia.preference_tables import build_preference_tables
from metrics.protobias.failure_differences import compare_metrics, compare_painters
from metrics.protobias.ranking import ranking_table
from metrics.statistics.sign_flips import sign_flip_test
from metrics.statistics.weighted_kappa import pairwise_agreement
from metrics.vhexpansion.mme_scores import COGNITION, mme_score
from metrics.vhexpansion.symmetry import symmetry_table
from metrics.vlmbias.accuracy import accuracy_table
from tests.metrics.philautia.simulated_captions import simulated
from tests.metrics.protobias.ranked import scored
from tests.metrics.vlmbias.test_accuracy import row as answer_row

RANDOM = np.random.default_rng(11)
CLUSTERS, STRATA = np.repeat(np.arange(24), 3), np.repeat([0, 1, 1], 24)


def pairs(painter, metric, domain):
    sides = RANDOM.random((30, 2)).round(2)
    names = (f"c{number // 2}" for number in range(30))
    rows = ((name, *scores) for name, scores in zip(names, sides.tolist(), strict=True))
    return scored(*rows, painter=painter, metric=metric, domain=domain)


SCORES = pd.concat(
    [
        pairs(painter, metric, domain)
        for painter in ("zeta", "alpha")
        for metric in ("pick", "clip", "vqa")
        for domain in ("objects", "animals")
    ],
    ignore_index=True,
)
ENDED = {"answered": ("5", "4"), "unparsed": (None,), "refused": (None,), "failed": (None,)}
ANSWERS = pd.DataFrame(
    [
        answer_row(
            f"{domain} {number // 2}",
            RANDOM.choice(ENDED[outcome]),
            outcome,
            domain=domain,
            model=model,
            prompting=prompting,
            question=f"question {number}",
            refusal="content filter" if outcome == "refused" else None,
        )
        for model in ("judge", "another")
        for prompting in ("baseline", "debiased")
        for domain in ("grids", "flags")
        for number in range(24)
        for outcome in RANDOM.choice([*ENDED], 1, p=[0.7, 0.1, 0.1, 0.1])
    ]
)
ANNOTATED = pd.DataFrame(
    {
        "image_id": [f"i{number}" for number in range(40)] * 3,
        "concept_id": [f"c{number // 2}" for number in range(40)] * 3,
        "annotator": np.repeat(["a", "b", "c"], 40),
        "score": RANDOM.integers(1, 5, 120),
    }
)
MME = pd.DataFrame(
    [
        {"subtask": name, "image": f"{name} {number // 2}", "correct": float(right)}
        for name in COGNITION
        for number, right in enumerate(RANDOM.integers(0, 2, 16))
    ]
)
BIASED = pd.DataFrame(
    {
        "picture": [f"i{number}" for number in range(30)] * 2,
        "domain": "people",
        "configuration": np.repeat(["dim", "bright"], 30),
        "original": RANDOM.integers(1, 5, 60).astype(float),
        "biased": RANDOM.integers(1, 6, 60).astype(float),
    }
)
PICTURES = [
    (domain, f"{domain} {number}") for domain in ("people", "indoor") for number in range(25)
]
INFLATED = pd.DataFrame(
    [
        {
            "model": model,
            "picture": picture,
            "domain": domain,
            "bias": bias,
            "original": RANDOM.choice([1.0, 2, 3, np.nan], p=[0.3, 0.4, 0.2, 0.1]),
            "biased": RANDOM.choice([1.0, 2, 3, np.nan], p=[0.3, 0.3, 0.3, 0.1]),
        }
        for model in ("judge", "another")
        for bias in ("padding", "boxes")
        for domain, picture in PICTURES
    ]
)
PREFERENCES = ["first", "second", "first_before", "second_before"]
COMPARED = pd.DataFrame(PICTURES, columns=["domain", "picture"]).assign(
    **dict(zip(PREFERENCES, RANDOM.choice([0, 0.5, 1], (4, len(PICTURES))), strict=True))
)
NEGATED = pd.DataFrame(
    [
        {
            "model": model,
            "perturbation": perturbation,
            "case_id": f"case {case}",
            "base_id": f"image {case // 2}",
            "form": form,
            "truth": "yes" if (case % 3 == 0) == (form == "original") else "no",
            "answer": RANDOM.choice(["yes", "no", ""], p=[0.5, 0.4, 0.1]),
            "repeat": repeat,
        }
        for model in ("judge", "another")
        for perturbation in ("none", "noise")
        for case in range(24)
        for form in ("original", "negated")
        for repeat in range(2)
    ]
)
ILLUSIONS = pd.DataFrame(
    [
        {
            "model": model,
            "illusion": illusion,
            "inducer": inducer,
            "picture_id": f"{illusion} {inducer} {number}",
            "pair_id": f"{illusion} {inducer} {number // 2 * 2}",
            "is_equal": number % 2 == 0,
            "polarity": polarity,
            "judged_equal": RANDOM.choice([1.0, 0.0, np.nan], p=[0.5, 0.4, 0.1]),
        }
        for model in ("judge", "another")
        for illusion in ("Ponzo", "Zöllner")
        for inducer in ("with", "without")
        for number in range(24)
        for polarity in ("equal", "different")
    ]
)
CAPTIONED = simulated(
    RANDOM, images=30, models=5, families={"A": "one", "B": "one"}, preference=3.0, declines=0.1
)


def susceptibility_table(rows, by, **seed):
    """`susceptibility` as a table, without the ends of rates, which few changes hardly move."""
    return pd.DataFrame(
        [
            {
                by: value,
                "rate": total.rate,
                **dict(zip(("mean_low", "mean_high"), total.mean_interval, strict=True)),
                **dict(zip(("rise_low", "rise_high"), total.rise_interval, strict=True)),
                "mean": total.mean,
                "rise": total.mean_rise,
            }
            for value, total in measure_susceptibility(rows, by, **seed).items()
        ]
    )


def preference_part(name):
    return lambda scores, **seed: getattr(build_preference_tables(scores, rounds=40, **seed), name)


def panel_part(name):
    panels = [("A", "B"), ("C", "D", "E")]
    return lambda scores, **seed: getattr(panel_tables(scores, panels, rounds=40, **seed), name)


ROW_TABLES = {
    "between_metrics": (compare_metrics, SCORES),
    "between_painters": (compare_painters, SCORES),
    "ranking": (ranking_table, SCORES),
    "outcomes": (outcome_rate_table, ANSWERS),
    "accuracy": (accuracy_table, ANSWERS),
    "inflation": (inflation_table, INFLATED[INFLATED["model"] == "judge"]),
    "susceptibility by bias": (partial(susceptibility_table, by="bias"), INFLATED),
    "susceptibility by domain": (partial(susceptibility_table, by="domain"), INFLATED),
    "win rates": (win_rates, COMPARED),
    "polarity": (polarity_table, ILLUSIONS),
    "symmetry": (
        partial(symmetry_table, by=["model", "perturbation"], unchanged={"perturbation": "none"}),
        NEGATED,
    ),
}
TABLES = {
    **ROW_TABLES,
    **{
        f"preference, {name}": (preference_part(name), CAPTIONED)
        for name in ("cells", "models", "families", "generators", "evaluators")
    },
    **{f"panels, {name}": (panel_part(name), CAPTIONED) for name in ("generators", "panels")},
}
SINGLE = {
    "correlation": lambda **seed: correlate(*RANDOM_PAIR, range(72), **seed),
    "kendall": lambda **seed: correlate_ranks(*RANDOM_PAIR, CLUSTERS, rounds=100, **seed),
    "agreement": lambda **seed: pairwise_agreement(ANNOTATED, **seed),
    "mme": lambda **seed: mme_score(MME, "cognition", **seed),
    "search": lambda **seed: search_held_out(BIASED, **seed),
    "stratified": lambda **seed: stratified_interval(RANDOM_PAIR[0], CLUSTERS, STRATA, **seed),
    "graded": lambda **seed: graded_interval(RANDOM_PAIR[0], CLUSTERS, STRATA, **seed),
    "paired": lambda **seed: paired_interval(RANDOM_PAIR[1], CLUSTERS, STRATA, **seed),
    "success": lambda **seed: measure_success(INFLATED[INFLATED["model"] == "judge"], **seed),
    "flips": lambda **seed: sign_flip_test(RANDOM_PAIR[1] - 0.45, CLUSTERS, STRATA, **seed),
}
WITHOUT_DEFAULT = {"correlation", "agreement", "stratified", "graded", "paired", "flips"}
RANDOM_PAIR = RANDOM.random((2, 72))


def flatten(value):
    """All numbers of nested tuples and lists, intervals apart from what they are intervals of."""
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in flatten(part)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("name", SINGLE)
def test_a_seed_repeats_and_another_one_changes_every_interval(name):
    compute = SINGLE[name]
    numbers, repeated = flatten(compute(seed=0)), flatten(compute(seed=0))
    changed = flatten(compute(seed=1))
    assert numbers == repeated
    assert any(a != b for a, b in zip(numbers, changed, strict=True))
    if name not in WITHOUT_DEFAULT:
        assert flatten(compute()) == numbers


@pytest.mark.parametrize("name", TABLES)
def test_a_seed_moves_the_intervals_of_a_table_and_nothing_else(name):
    compute, rows = TABLES[name]
    table = compute(rows)
    pd.testing.assert_frame_equal(table, compute(rows, seed=0))
    changed = compute(rows, seed=1)
    assert list(changed.columns) == list(table.columns)
    ends = [
        column for column in table if column.endswith(("low", "high")) or column in ("p", "p_holm")
    ]
    pd.testing.assert_frame_equal(table.drop(columns=ends), changed.drop(columns=ends))
    for low in (column for column in ends if column.endswith("low")):
        high = f"{low.removesuffix('low')}high"
        wide = table[low].ne(table[high]) & table[low].notna()
        # At 0 and 1 an end stays where it is, and so does an exact interval.
        differ = table[low].ne(changed[low]) | table[high].ne(changed[high])
        assert not wide.any() or (differ & wide).any(), low
    if "p" in table:
        assert table["p"].ne(changed["p"]).any()


def test_every_part_of_a_topic_has_intervals_of_its_own_seed():
    table, changed = (accuracy_table(ANSWERS, seed=seed) for seed in (0, 1))
    ends = [column for column in table if column.endswith(("_low", "_high"))]
    table["differs"] = (table[ends].ne(changed[ends]) & table[ends].notna()).any(axis=1)
    assert table.groupby(["topic", "subtopic"])["differs"].any().all()


@pytest.mark.parametrize("name", ["between_metrics", "ranking"])
def test_painters_keep_the_order_of_the_rows(name):
    compute, rows = TABLES[name]
    assert list(compute(rows)["painter"].unique()) == ["zeta", "alpha"]


def test_metrics_keep_the_order_of_the_rows():
    assert list(compare_painters(SCORES)["metric"].unique()) == ["pick", "clip", "vqa"]


WITHOUT_EMPTY_TABLE = {
    "accuracy",
    "win rates",
    "susceptibility by bias",
    "susceptibility by domain",
}
WITH_EMPTY_TABLE = [name for name in ROW_TABLES if name not in WITHOUT_EMPTY_TABLE]
KEYS = ["painter", "sample", "metric", "domain", "knob", "concept", "first", "second", "earlier"]
KEYS += ["later", "model", "prompting", "topic", "subtopic", "ending", "image_set", "size"]
KEYS += ["bias", "perturbation"]


@pytest.mark.parametrize("name", ROW_TABLES)
def test_numbers_do_not_depend_on_the_order_of_rows(name):
    compute, rows = TABLES[name]
    table, shuffled = compute(rows), compute(rows.sample(frac=1, random_state=5))
    if name.startswith("between"):
        # Which of two comes first is the order of the table.
        return
    keys = [column for column in table if column in KEYS]
    table, shuffled = (part.sort_values(keys, ignore_index=True) for part in (table, shuffled))
    pd.testing.assert_frame_equal(table, shuffled, check_exact=False, rtol=1e-9)


@pytest.mark.parametrize("name", WITH_EMPTY_TABLE)
def test_an_empty_table_has_all_columns(name):
    compute, rows = TABLES[name]
    assert list(compute(rows.iloc[:0]).columns) == list(compute(rows).columns)
