"""Whether responses belong to their questions, against a second way to count and planted orders."""

import math
import re
from statistics import mean, stdev

import pytest

from metrics.judge_sets.belonging import measure_belonging

QUESTIONS = [f"How many {word} are in the {place}?" for word in ("dogs", "cups", "cars", "hats")
             for place in ("garden", "kitchen", "street")]  # fmt: skip
RESPONSES = [f"I see two {question.split()[2]} in this {question[:-1].split()[-1]}."
             for question in QUESTIONS]  # fmt: skip


def count_by_loops(questions, responses):
    """The shares of other questions that lie farther, ties half, by loops over words."""
    different = sorted(set(questions))
    split = {text: set(re.findall(r"\w+", text.lower())) for text in (*different, *responses)}
    weight = {
        word: math.log(len(different) / sum(word in split[q] for q in different))
        for question in different
        for word in split[question]
    }

    def find_overlap(question, response):
        total = sum(weight[word] for word in split[question])
        return round(sum(weight[w] for w in split[question] & split[response]) / total, 9)

    shares = []
    for question, response in zip(questions, responses, strict=True):
        own = find_overlap(question, response)
        others = [find_overlap(other, response) for other in different if other != question]
        shares.append(
            sum(1 if other < own else 0.5 if other == own else 0 for other in others) / len(others)
        )
    return shares


def test_responses_in_order_belong():
    result = measure_belonging(QUESTIONS, RESPONSES)
    assert (result.rows, result.share, result.is_permuted) == (12, 1.0, False)
    assert result.is_checked


def test_responses_of_other_rows_are_permuted():
    moved = [*RESPONSES[4:], *RESPONSES[:4]]
    result = measure_belonging(QUESTIONS, moved)
    assert result.is_permuted
    assert result.share == pytest.approx(mean(count_by_loops(QUESTIONS, moved)))
    assert result.share < 0.5


def test_half_of_them_in_order_are_counted_as_such():
    mixed = [*RESPONSES[:6], *RESPONSES[9:], *RESPONSES[6:9]]
    result = measure_belonging(QUESTIONS, mixed)
    shares = count_by_loops(QUESTIONS, mixed)
    assert result.share == pytest.approx(mean(shares))
    assert result.low == pytest.approx(mean(shares) - 1.96 * stdev(shares) / len(shares) ** 0.5)


@pytest.mark.parametrize(
    ("questions", "responses"),
    [
        (["Describe it."] * 12, RESPONSES),
        (QUESTIONS, ["(A)"] * 12),
        (QUESTIONS[:9], RESPONSES[:9]),
    ],
)
def test_too_little_is_unchecked(questions, responses):
    result = measure_belonging(questions, responses)
    assert not result.is_checked
    assert not result.is_permuted


def test_where_no_question_is_told_from_another_there_is_no_share():
    result = measure_belonging(["Describe it."] * 3, RESPONSES[:3])
    assert math.isnan(result.share)
    assert math.isnan(result.low)
