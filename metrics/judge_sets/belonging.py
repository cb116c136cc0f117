"""Whether responses belong to their questions, by the words that they share.

Where a data set was put together by position, one that has changed since leaves every response at
a question of another row. No row alone tells: over all rows of a source, responses then share no
more words with their own question than with others.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_Z = 1.96
MIN_ROWS = 10
"""Rows that tell something, from which a source is judged."""
CLEAR_SHARE = 0.7
"""Mean share of a clear belonging: a source that may reach it is not permuted."""
_CONFIDENCE = 0.99
"""A source that has the clear share is called permuted in at most 1 % of cases."""


class Belonging(NamedTuple):
    """How often responses share more with their own question than with another one."""

    rows: int
    """Rows whose responses share more words with some questions than with others."""
    share: float
    """Mean share of other questions that lie farther, ties half: 0.5 by chance. NaN for no row."""
    low: float
    """Low end of its 95 % interval; NaN below two rows."""
    high: float
    """The mean share lies below it with a confidence of 99 %; NaN below two rows."""
    total: int
    """All rows of the source."""

    @property
    def is_checked(self) -> bool:
        """True where the rows show that responses belong, or that they are permuted."""
        return self._has_enough_rows and (self.low > 0.5 or self.is_permuted)

    @property
    def is_permuted(self) -> bool:
        """True where own questions lie no nearer than others, and clearly not near."""
        return self._has_enough_rows and not self.low > 0.5 and self.high < CLEAR_SHARE

    @property
    def _has_enough_rows(self) -> bool:
        return self.rows >= MIN_ROWS and 2 * self.rows >= self.total


def measure_belonging(questions: Sequence[str], responses: Sequence[str]) -> Belonging:
    """Compare each row's responses with its own question and with all different ones.

    Words weigh by how few of the different questions hold them; a question's shared weight is
    divided by all of its weight.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow, and seldom needed

    different = list(dict.fromkeys(questions))
    word_sets = [_split(question) for question in different]
    vocabulary = {word: place for place, word in enumerate(sorted(set().union(*word_sets)))}
    matrix = _mark(word_sets, vocabulary)
    weights = matrix * -np.log(np.maximum(matrix.mean(axis=0), 1 / max(len(different), 1)))
    totals = np.maximum(weights.sum(axis=1), 1e-9)
    places = {question: place for place, question in enumerate(different)}
    shares = []
    for question, response in zip(questions, responses, strict=True):
        shared = weights @ _mark([_split(response)], vocabulary)[0]
        overlaps = np.round(shared / totals, 9)
        others = np.delete(overlaps, places[question])
        if others.size and np.ptp(overlaps) > 0:
            own_overlap = overlaps[places[question]]
            shares.append(float(np.mean((others < own_overlap) + 0.5 * (others == own_overlap))))
    if not shares:
        return Belonging(rows=0, share=np.nan, low=np.nan, high=np.nan, total=len(questions))
    spread = float(np.std(shares, ddof=1)) if len(shares) > 1 else np.nan
    mean, error = float(np.mean(shares)), spread / len(shares) ** 0.5
    return Belonging(
        rows=len(shares),
        share=mean,
        low=mean - _Z * error,
        high=mean + float(stdtrit(len(shares) - 1, _CONFIDENCE)) * error,
        total=len(questions),
    )


def _split(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _mark(word_sets: Sequence[set[str]], vocabulary: dict[str, int]) -> NDArray[Any]:
    matrix = np.zeros((len(word_sets), len(vocabulary)))
    for row, words in enumerate(word_sets):
        matrix[row, [vocabulary[word] for word in words if word in vocabulary]] = 1
    return matrix
