"""Which months are found to differ, by planted changes. Simulated years are in tests/bench."""

import pytest

from metrics.vlmbias.drift import RepeatedAnswer, find_changes

STEADY = [("a", 1)] * 20


def month(*answers, repeats=1):
    return [
        RepeatedAnswer(str(number), answer, score)
        for _ in range(repeats)
        for number, (answer, score) in enumerate(answers)
    ]


def test_a_change_is_found_in_its_month_and_the_next_is_compared_with_it():
    changed = [("b", 0)] * 6 + STEADY[6:]
    january, february, march, april = find_changes(
        {
            "2026-01": month(*STEADY, repeats=5),
            "2026-02": month(*STEADY),
            "2026-03": month(*changed),
            "2026-04": month(*changed),
            "2026-05": month(*STEADY),
        }
    )
    assert (january.month, january.p_answers, january.p_right) == ("2026-02", 1.0, 1.0)
    assert not january.has_changed
    # Six answers of seven are alike: the last is the odd one out with a chance of 1/7.
    assert february.p_answers == pytest.approx(24 * 7.0**-6)
    # Of seven right ones six are: the two months together have five of the right ones.
    assert february.p_right == pytest.approx(23 * 2 * (2 / 7) ** 6)
    assert february.reference == ["2026-01", "2026-02"]
    assert february.has_changed
    assert march.reference == ["2026-03"]
    assert (march.p_answers, march.p_right) == (1.0, 1.0)
    assert april.reference == ["2026-03", "2026-04"]
    # The last of three is the odd one out; two smaller p-values of the year came before.
    assert april.p_answers == pytest.approx(22 * 3.0**-6)
    assert april.p_right == 1.0


def test_right_answers_are_counted_together_with_the_two_months_before():
    months = {f"2026-{number:02}": month(*STEADY) for number in (2, 3, 4)}
    changed = month(*[("b", 0)] * 6, *STEADY[6:])
    *_, test = find_changes({"2026-01": month(*STEADY, repeats=5), **months, "2026-05": changed})
    assert test.p_answers == pytest.approx(24 * 9.0**-6)
    # One of nine is wrong: it is among the last three with a chance of 3/9.
    assert test.p_right == pytest.approx(23 * 2 * 3.0**-6)
    assert test.has_changed


def test_each_year_has_its_own_correction():
    changed = [("b", 0)] * 6 + STEADY[6:]
    found = find_changes(
        {
            "2026-11": month(*STEADY, repeats=5),
            "2026-12": month(*changed),
            "2027-01": month(*STEADY),
        }
    )
    assert [test.p_answers for test in found] == pytest.approx([24 * 6.0**-6, 1.0])
    # Two answers to each say nothing of chance, but that all six were right again does.
    assert [test.p_right for test in found] == pytest.approx([23 * 2 * 6.0**-6, 24 * 2 * 2.0**-6])


def test_a_refusal_is_an_answer_and_what_failed_is_none():
    refused = [("refused", None)] * 6 + STEADY[6:]
    failed = [(None, None)] * 6 + STEADY[6:]
    for answers, p in ((refused, 24 * 6.0**-6), (failed, 1.0)):
        (test,) = find_changes({"2026-01": month(*STEADY, repeats=5), "2026-02": month(*answers)})
        assert (test.p_answers, test.p_right) == (pytest.approx(p), 1.0)
