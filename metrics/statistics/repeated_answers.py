"""Exact tests of whether questions that were asked again are answered as before.

A model at temperature 1 answers some questions differently each time, so that a difference alone
proves nothing. If nothing has changed, all answers to a question are exchangeable: which of them
are the later ones is a matter of chance. Both tests condition on the answers to each question, and
add what chance gives over the questions, which are independent. With one answer before and one
after, `right_count_test` is McNemar's exact test; with one question, Fisher's.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cache, reduce
from math import comb
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

AnswerT = TypeVar("AnswerT", bound=Hashable)
Repeats: TypeAlias = Iterable[tuple[Sequence[AnswerT], Sequence[AnswerT]]]
"""The earlier and the later answers to each question; one that lacks either says nothing."""


def right_count_test(scores: Repeats[int]) -> float:
    """The two-sided p-value of the number of later answers that are right.

    `scores` are 1 for a right answer and 0 for a wrong one. Twice the smaller tail, at most 1.
    """
    right_count, chances = 0, []
    for before, after in scores:
        right_count += sum(after)
        right, total = sum(before) + sum(after), len(before) + len(after)
        chances.append(_right_chances(total, right, len(after)))
    chance = _add_chances(chances)
    tails = chance[: right_count + 1].sum(), chance[right_count:].sum()
    return float(min(1.0, 2 * min(tails)))


def same_answer_test(answers: Repeats[str]) -> float:
    """The one-sided p-value of how often the later answers equal earlier ones to their question.

    `answers` have at most one later answer each. The p-value is small where these repeat fewer of
    the earlier ones than those repeat each other, whether or not as many are right. A question
    whose answers always differed says nothing, one that was always answered alike says most.
    """
    same_count, chances = 0, []
    for before, after in answers:
        for answer in after:
            counts = Counter((*before, answer))
            same_count += counts[answer] - 1
            chances.append(_same_chances(tuple(sorted(counts.values()))))
    return float(_add_chances(chances)[: same_count + 1].sum())


@cache
def _right_chances(total: int, right: int, drawn: int) -> NDArray[np.float64]:
    """The hypergeometric chances of 0, 1, … right answers among those drawn."""
    ways = [comb(right, k) * comb(total - right, drawn - k) for k in range(drawn + 1)]
    return np.array(ways) / comb(total, drawn)


@cache
def _same_chances(counts: tuple[int, ...]) -> NDArray[np.float64]:
    """The chances that 0, 1, … others equal an answer drawn at random, by each answer's count."""
    return np.bincount([count - 1 for count in counts], counts) / sum(counts)


def _add_chances(chances: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The chances of 0, 1, … of the sum of independent counts."""
    return reduce(np.convolve, chances, np.ones(1))
