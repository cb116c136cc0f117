"""MME's rule, on tables counted by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from metrics.vhexpansion.mme_scores import (
    COGNITION,
    PERCEPTION,
    mme_score,
    read_mme_answer,
    subtask_score,
)


def answers(names, right):
    """Two pictures a subtask; `right` are the answers to their four questions."""
    return pd.DataFrame(
        [
            {"subtask": name, "image": f"{name} {at // 2}", "correct": each}
            for name in names
            for at, each in enumerate(right)
        ]
    )


@pytest.mark.parametrize(
    ("right", "score"),
    # accuracy + accuracy+: a picture counts in the second only with both questions
    [([1, 1, 1, 1], 200), ([1, 1, 1, 0], 125), ([1, 0, 1, 0], 50), ([0, 0, 0, 0], 0)],
)
def test_a_subtask_is_accuracy_and_the_share_of_pictures_with_both_right(right, score):
    table = answers(["count"], right)
    assert subtask_score(table["image"], table["correct"]) == score


def test_perception_is_the_sum_of_ten_and_cognition_of_four():
    every = answers([*PERCEPTION, *COGNITION], [1, 1, 1, 1])
    assert mme_score(every, "perception").value == 2000
    assert mme_score(every, "cognition").value == 800
    mixed = pd.concat(
        [answers(PERCEPTION[:1], [1, 1, 1, 0]), answers(PERCEPTION[1:], [1, 0, 1, 0])]
    )
    found = mme_score(mixed, "perception")
    assert found.value == 125 + 9 * 50
    assert found.low <= found.value <= found.high


def test_its_interval_is_that_of_what_each_picture_adds():
    """A picture adds its accuracy, and as much once more where both of its answers are right."""
    random = np.random.default_rng(1)
    right = random.integers(0, 2, (4, 12, 2))
    rows = pd.DataFrame(
        [
            {"subtask": name, "image": image, "correct": float(right[at, image, question])}
            for at, name in enumerate(COGNITION)
            for image in range(12)
            for question in range(2)
        ]
    )
    added = (right.mean(axis=2) + right.all(axis=2)) / 2
    found = mme_score(rows.sample(frac=1, random_state=1), "cognition", seed=2)
    assert found.value == pytest.approx(200 * added.mean(axis=1).sum())
    drawn = random.multinomial(48 + 2, [1 / 50, 1 / 50, 48 / 50], 50_000) / 50
    means = np.mean(
        [random.multinomial(12, [1 / 12] * 12, 50_000) @ images / 12 for images in added], axis=0
    )
    ends = 800 * np.quantile(drawn[:, 0] + drawn[:, 2] * means, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(ends, abs=5)


def test_names_are_matched_in_any_case():
    every = answers([name.upper() for name in COGNITION], [1, 1, 1, 0])
    assert mme_score(every, "cognition").value == 500


def test_a_sum_that_cannot_be_told_says_why():
    lacking = mme_score(answers(PERCEPTION[:9], [1, 1, 1, 1]), "perception")
    assert math.isnan(lacking.value)
    assert lacking.reason == "OCR has no questions"
    failed = mme_score(answers(COGNITION, [1, 1, 1, float("nan")]), "cognition")
    assert failed.reason == "1 of 4 questions of commonsense_reasoning have no answer"
    odd = mme_score(answers(COGNITION, [1, 1, 1]), "cognition")
    assert odd.reason == "1 of 2 pictures of commonsense_reasoning lack two questions"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("yes", "yes"),
        ("No.", "no"),
        ("{Yes}", "yes"),
        ("  **No**", "no"),
        ("<think>Yes, or no?</think>\nNo", "no"),
        # by the letter: the first four characters, and yes before no
        ("Not a single one", "no"),
        ("No yes-man is there", "no"),
        ("Know that it is", "no"),
        ("The answer is yes", None),
        ("I see no dog", None),
        ("", None),
    ],
)
def test_replies_are_read_by_their_first_four_characters(reply, answer):
    assert read_mme_answer(reply) == answer
