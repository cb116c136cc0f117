"""Months in which a judge's answers to the same questions changed, and the tests behind them.

Each month is compared with all earlier months since the last change, twice: its answers, whether
they repeat the earlier ones; and its right answers, together with those of the two months before
it, since a small loss on questions that are answered now so, now so, shows only in several months.
Holm's correction counts both tests in all twelve months of a calendar year, so that all alarms of
a judge and year together are false in at most 5 % of years.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from metrics.statistics.repeated_answers import right_count_test, same_answer_test
from metrics.statistics.sign_flips import correct_by_holm

LEVEL = 0.05
POOLED_MONTHS = 3
"""Months whose right answers are counted together, the tested one among them."""
TESTS_PER_YEAR = 24
BASELINE_SAMPLES = 5
"""Answers to each question in a judge's first month, which all later months are compared with."""


class RepeatedAnswer(NamedTuple):
    """An answer to a question; `score` is 1 for a right one, 0 for a wrong one.

    A refusal is an answer without a score, and a failed request has neither.
    """

    question: str
    answer: str | None
    score: int | None


MonthlyAnswers: TypeAlias = Mapping[str, Sequence[RepeatedAnswer]]
"""Answers by month ("2026-11"), in the order of months."""


class MonthTest(NamedTuple):
    """The tests of a month, with corrected p-values.

    `reference` are the earlier months since the last change, with which its answers are compared.
    """

    month: str
    reference: Sequence[str]
    p_answers: float
    p_right: float

    @property
    def has_changed(self) -> bool:
        """True where either test finds a change."""
        return min(self.p_answers, self.p_right) < LEVEL


def find_changes(answers: MonthlyAnswers) -> list[MonthTest]:
    """Test each month but the first, as it could be tested at its end."""
    tests: list[MonthTest] = []
    since, p_by_year = 0, dict[str, list[float]]()
    months = [*answers]
    for index, month in enumerate(months[1:], 1):
        start = max(since + 1, index + 1 - POOLED_MONTHS)
        raw = (
            same_answer_test(_pair(answers, months[since:index], [month], "answer")),
            right_count_test(
                _pair(answers, months[since:start], months[start : index + 1], "score")
            ),
        )
        p_values = p_by_year.setdefault(month[:4], [])
        p_values += raw
        padding = [1.0] * (TESTS_PER_YEAR - len(p_values))
        corrected = correct_by_holm([*p_values, *padding])[len(p_values) - 2 : len(p_values)]
        test = MonthTest(month, months[since:index], *map(float, corrected))
        tests.append(test)
        if test.has_changed:
            since = index
    return tests


def _pair(
    answers: MonthlyAnswers, before: Sequence[str], after: Sequence[str], name: str
) -> Iterator[tuple[list[Any], list[Any]]]:
    """The values of both groups of months by question; those that are missing are left out."""
    values = dict[str, tuple[list[Any], list[Any]]]()
    for group, months in enumerate((before, after)):
        for month in months:
            for repeat in answers[month]:
                value = getattr(repeat, name)
                if value is not None:
                    values.setdefault(repeat.question, ([], []))[group].append(value)
    return iter(values.values())
