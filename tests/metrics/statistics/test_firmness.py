"""The rule of what is ranked, over all counts of requests and answers."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.statistics.firmness import FIRMNESS, Evidence

COUNTS = st.tuples(st.integers(0, 400), st.integers(0, 400)).map(sorted)


@given(COUNTS, st.integers(0, 60), st.sampled_from(["", "3 of 5 domains"]), st.booleans())
def test_a_result_has_answers_enough_and_to_nearly_all_requests(counts, units, part, is_stand_in):
    answers, requests = counts
    evidence = Evidence(
        requests=requests,
        answers=answers,
        units=units,
        min_units=25,
        part=part,
        is_stand_in=is_stand_in,
    )
    is_result = (
        not is_stand_in
        and not part
        and units >= 25
        and answers > 0
        and Fraction(requests - answers, requests) <= Fraction(1, 10)
    )
    assert (evidence.firmness == "result") == is_result
    assert evidence.firmness in FIRMNESS
    assert evidence.has_number == (answers > 0)
    if not is_stand_in:
        assert bool(evidence.reasons) != is_result
        assert (evidence.firmness == "not run") == (requests == 0)
        assert (evidence.firmness == "no answer") == (requests > 0 == answers)


@pytest.mark.parametrize(
    ("answers", "reasons"),
    [
        (140, ()),
        (126, ()),
        (125, ("15 of 140 answers missing",)),
        (0, ("no answer to 140 requests",)),
    ],
)
def test_reasons_name_what_is_missing(answers, reasons):
    """Of 140 requests 14 are a tenth."""
    assert Evidence(requests=140, answers=answers).reasons == reasons


def test_reasons_are_listed_in_order_with_thousands_apart():
    evidence = Evidence(
        requests=4_000,
        answers=2_000,
        units=1_999,
        min_units=2_000,
        unit="images",
        part="2 of 3 tasks",
        caveat="few judges",
    )
    assert evidence.reasons == (
        "2,000 of 4,000 answers missing",
        "1,999 of at least 2,000 images",
        "2 of 3 tasks",
        "few judges",
    )
    assert replace(evidence, requests=0, answers=0).reasons == ("not run",)
    assert replace(evidence, answers=0).reasons == ("no answer to 4,000 requests",)


def test_without_more_being_said_one_unit_is_enough():
    evidence = Evidence(requests=1, answers=1)
    assert (evidence.firmness, evidence.reasons) == ("result", ())
    assert replace(evidence, units=0).reasons == ("0 of at least 1 pictures",)
    assert replace(evidence, is_stand_in=True).firmness == "stand-in"


def test_a_further_answer_never_makes_a_number_less_firm():
    few = Evidence(requests=50, answers=0, min_units=25)
    firmnesses = [
        FIRMNESS.index(replace(few, answers=answers, units=answers).firmness)
        for answers in range(51)
    ]
    assert firmnesses == sorted(firmnesses, reverse=True)
