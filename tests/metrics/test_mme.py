"""MME's rule, on tables counted by hand."""

import math

import pandas as pd
import pytest

from metrics.mme import COGNITION, PERCEPTION, mme_score, read_mme, subtask_score


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


def test_names_are_matched_in_any_case():
    every = answers([name.upper() for name in COGNITION], [1, 1, 1, 0])
    assert mme_score(every, "cognition").value == 500


def test_a_sum_that_cannot_be_told_says_why():
    lacking = mme_score(answers(PERCEPTION[:9], [1, 1, 1, 1]), "perception")
    assert math.isnan(lacking.value)
    assert lacking.why == "OCR has no questions"
    failed = mme_score(answers(COGNITION, [1, 1, 1, float("nan")]), "cognition")
    assert failed.why == "1 of 4 questions of commonsense_reasoning have no answer"
    odd = mme_score(answers(COGNITION, [1, 1, 1]), "cognition")
    assert odd.why == "1 of 2 pictures of commonsense_reasoning lack two questions"


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
    assert read_mme(reply) == answer
