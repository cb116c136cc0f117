"""The check that warns where a model's answers can often not be used."""

from types import SimpleNamespace

import pytest
from dagster import AssetCheckSeverity, AssetKey

from assets.kit.checks import no_failures_check, unparsed_rate_check
from resources.models.catalog import Model


def rows(**outcomes):
    """Rows by prompting: as many of each outcome as said, as in "6 answered, 4 refused"."""
    return [
        {"prompting": prompting, "outcome": outcome}
        for prompting, said in outcomes.items()
        for number, outcome in (each.split() for each in said.split(", "))
        for _ in range(int(number))
    ]


@pytest.mark.parametrize(
    ("said", "passed", "share"),
    [
        ({"baseline": "64 answered, 36 unparsed"}, False, 0.36),
        ({"baseline": "64 answered, 30 unparsed, 6 refused"}, False, 0.36),
        ({"baseline": "90 answered, 5 unparsed, 5 refused"}, True, 0.1),
        ({"baseline": "89 answered, 11 refused"}, False, 0.11),
        ({"baseline": "9 answered, 1 unparsed, 90 failed"}, True, 0.1),
        ({"baseline": "90 scored"}, True, 0.0),
        ({"baseline": "9 failed"}, True, 0.0),
        ({}, True, 0.0),
    ],
)
def test_more_than_a_tenth_warns_and_stops_nothing(said, passed, share):
    result = unparsed_rate_check("prompting", "Mend it.").passes(None, rows(**said))
    assert (result.passed, result.metadata["unread_share"].value) == (passed, share)
    assert result.severity == AssetCheckSeverity.WARN
    assert f"{share:.1%} of the answers" in result.description
    assert ("Mend it." in result.description) is not passed


def test_one_way_of_prompting_does_not_hide_another():
    answers = rows(baseline="990 answered", debiased="6 answered, 4 unparsed")
    result = unparsed_rate_check("prompting", "").passes(None, answers)
    assert not result.passed
    assert "| debiased | 4 | 0 | 10 | 0.4 |" in result.metadata["shares"].value


@pytest.mark.parametrize(
    ("backend", "severity", "remedy"),
    [
        (
            "imported",
            AssetCheckSeverity.WARN,
            "Import a log that has them, by `counterfactory",
        ),
        ("openai", AssetCheckSeverity.ERROR, "Materialize some/answers of flags again"),
    ],
)
def test_answers_that_no_log_has_warn_and_cannot_be_asked_again(backend, severity, remedy):
    model = Model(name="j", backend=backend, model="j", family="some", roles=("judge",))
    step = SimpleNamespace(
        key=AssetKey(["some", "answers"]),
        table=SimpleNamespace(outcome_column="outcome"),
        model=lambda partition, config: model,
    )
    work = SimpleNamespace(partition="flags", config=None)
    answers = [
        {"question_id": "Q1", "outcome": "failed", "reason": "It is away."},
        {"question_id": "Q2", "outcome": "answered", "reason": None},
    ]
    result = no_failures_check(step, ["question_id"]).passes(work, answers)
    assert (result.passed, result.severity) == (False, severity)
    assert "1 of 2 " in result.description
    assert remedy in result.description
    assert ("again" in result.description) is (backend != "imported")
    assert no_failures_check(step, ["question_id"]).passes(work, answers[1:]).passed
