"""Whether responses belong to their questions, against a second way to count and planted orders."""

import math
import re
from statistics import mean, stdev

import numpy as np
import pytest

from metrics.judge_sets.belonging import Belonging, measure_belonging

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


def draw_sources(*, count, rows, echoed, shift):
    """Belongings of made-up sources; a response has a share of its question's words, and noise."""
    generator = np.random.default_rng(rows)
    frequencies = 1 / np.arange(3, 2003)
    frequencies /= frequencies.sum()
    for _ in range(count):
        drawn = generator.choice(2000, (rows, 48), p=frequencies)
        is_echoed = generator.random((rows, 8)) < echoed
        questions = [" ".join(map(str, words[:8])) for words in drawn]
        responses = [
            " ".join(map(str, [*words[:8][mask], *words[8:]]))
            for words, mask in zip(drawn, is_echoed, strict=True)
        ]
        yield measure_belonging(questions, responses[shift:] + responses[:shift])


@pytest.mark.parametrize(("rows", "count"), [(10, 400), (30, 300), (100, 100)])
def test_right_sources_are_hardly_ever_rejected(rows, count):
    results = [*draw_sources(count=count, rows=rows, echoed=0.12, shift=0)]
    assert mean(result.share for result in results) == pytest.approx(0.7, abs=0.02)
    assert mean(result.is_permuted for result in results) <= 0.01


@pytest.mark.parametrize(("rows", "count"), [(30, 300), (100, 100)])
def test_permuted_sources_are_rejected(rows, count):
    results = draw_sources(count=count, rows=rows, echoed=0.4, shift=rows // 3)
    assert mean(result.is_permuted for result in results) >= 0.95


def test_a_source_that_shows_neither_is_unchecked():
    result = Belonging(rows=10, share=0.65, low=0.46, high=0.92, total=10)
    assert (result.is_checked, result.is_permuted) == (False, False)
