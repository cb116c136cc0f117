"""Findings about steps of thinking: when a rise or a fall is told of, and what is odd."""

import math

import pandas as pd
import pytest

from assets.report.curves import CurveChart, CurveLine, CurvePoint
from assets.report.formats import Rate
from assets.report.thinking import (
    StepPoint,
    ThinkingAxis,
    ThinkingCurve,
    ThinkingSection,
    list_axes,
)
from metrics.statistics.firmness import Evidence
from resources.models.catalog import Model

AXIS = ThinkingAxis("luna", "reasoning_effort", {"low": "a", "medium": "b", "high": "c"})
NAN = float("nan")


def point(label, share, tokens, *, answers=30, **evidence):
    """A step with that share right, and answers of that many tokens, 10 more or less."""
    counted = [math.nan] * answers
    if tokens is not None:
        counted = [tokens + 10 * (place % 3 - 1) for place in range(answers)]
    scenes = [f"scene {place}" for place in range(answers)]
    rows = pd.DataFrame({"base_id": scenes, "domain": "flags", "output_tokens": counted})
    return StepPoint.build(
        label,
        AXIS.steps[label],
        {"accuracy": Rate(share, share - 0.05, share + 0.05)},
        Evidence(**{"requests": answers, "answers": answers, **evidence}),
        rows,
    )


def curve(shares, tokens=(300, 1200, 6000), p=0.01, **more):
    """A curve whose steps differ by their shares, each difference with that p-value."""
    points = [point(*step, **more) for step in zip(AXIS.steps, shares, tokens, strict=True)]
    by_name = {step.model: step.rates["accuracy"].value for step in points}

    def compare(names):
        pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
        rows = [(a, b, "accuracy", by_name[a] - by_name[b]) for a, b in pairs]
        table = pd.DataFrame(rows, columns=["first", "second", "measure", "difference"])
        ends = {"low": table["difference"] - 0.04, "high": table["difference"] + 0.04}
        return table.assign(**ends, p_holm=p)

    return ThinkingCurve.build(AXIS, points, compare, "counts right in")


@pytest.mark.parametrize(
    ("shares", "p", "words"),
    [
        (
            (0.2, 0.4, 0.25),
            0.01,
            "20\u00a0% at 300 tokens, 40\u00a0% at 1,200, 25\u00a0% at 6,000: thinking helps up to "
            "a point, and more does worse.",
        ),
        (
            (0.2, 0.3, 0.4),
            0.01,
            "20\u00a0% at 300 tokens, 40\u00a0% at 6,000: more thinking does better.",
        ),
        (
            (0.4, 0.3, 0.2),
            0.01,
            "40\u00a0% at 300 tokens, 20\u00a0% at 6,000: more thinking does worse.",
        ),
        (
            (0.36, 0.38, 0.3),
            0.01,
            "38\u00a0% at 1,200 tokens, 30\u00a0% at 6,000: more thinking does worse.",
        ),
        (
            (0.2, 0.4, 0.38),
            0.01,
            "20\u00a0% at 300 tokens, 40\u00a0% at 1,200, 38\u00a0% at 6,000: thinking helps, and "
            "whether more than that does worse cannot be told.",
        ),
        (
            (0.2, 0.4, 0.25),
            0.05,
            "20\u00a0% at 300 tokens, 40\u00a0% at 1,200, 25\u00a0% at 6,000: whether thinking "
            "changes that cannot be told from these scenes.",
        ),
        (
            (0.38, 0.4, 0.4),
            0.01,
            "38\u00a0% at 300 tokens, 40\u00a0% at 1,200, 40\u00a0% at 6,000: whether thinking "
            "changes that cannot be told from these scenes.",
        ),
    ],
)
def test_a_rise_or_a_fall_is_told_of_where_it_is_certain(shares, p, words):
    assert curve(shares, p=p).sentence == f"luna counts right in {words}"


def test_steps_stand_by_their_tokens_whatever_they_are_called():
    turned = curve((0.2, 0.4, 0.25), tokens=(6000, 1200, 300))
    assert [step.label for step in turned.points] == ["high", "medium", "low"]
    assert turned.sentence.startswith("luna counts right in 25\u00a0% at 300 tokens, 40")


def test_stand_ins_are_compared_and_marked():
    free = curve((0.2, 0.4, 0.25), is_stand_in=True)
    assert (free.is_stand_in, curve((0.2, 0.4, 0.25)).is_stand_in) == (True, False)
    assert free.sentence.endswith("thinking helps up to a point, and more does worse.")
    assert (free.widest.first.label, free.widest.second.label) == ("low", "high")
    assert curve((0.2, 0.4, 0.25), part="20 of 300").widest is None


def test_trials_and_unknown_tokens_are_shown_and_told_of_in_no_sentence():
    trial = curve((0.2, 0.4, 0.25), part="20 of 300")
    assert (trial.sentence, len(trial.points), trial.differences) == ("", 3, [])
    unknown = curve((0.2, 0.4, 0.25), tokens=(None, 1200, 6000))
    assert [step.label for step in unknown.points] == ["medium", "high", "low"]
    assert unknown.sentence.startswith("luna counts right in 40\u00a0% at 1,200 tokens, 25")
    assert unknown.warning.startswith("luna: the tokens of some steps are not known.")
    section = ThinkingSection({"accuracy": "Accuracy"}, [unknown], {})
    (chart,) = section.charts
    assert [place.label for place in chart.lines[0].points] == ["medium", "high"]
    *_, last = section.table.lines
    assert (last.label, last.cells[0].text, last.cells[0].note) == ("low", "–", "not known")
    nothing = curve((0.2, 0.4, 0.25), tokens=(None, None, None))
    assert (nothing.sentence, nothing.differences) == ("", [])


def test_tokens_that_are_the_same_at_every_step_are_odd():
    assert curve((0.2, 0.4, 0.25)).warning == ""
    same = curve((0.2, 0.2, 0.2), tokens=(300, 301, 302))
    assert "about as many tokens at every step. Its server may ignore reasoning_effort" in (
        same.warning
    )
    assert ThinkingSection({"accuracy": "Accuracy"}, [same], {}).warnings == [same.warning]


def test_tables_have_tokens_their_interval_and_what_is_not_known():
    section = ThinkingSection({"accuracy": "Accuracy"}, [curve((0.2, 0.4, 0.25))], {})
    first, *_ = section.table.lines
    tokens, thinking, accuracy = first.cells
    assert tokens.text == "300"
    low, high = (int(end) for end in tokens.detail.strip("[]").split(",\u00a0"))
    # Ten scenes each of 290, 300 and 310.
    assert 300 - high == low - 300 or abs(high + low - 600) <= 2
    assert high - 300 == pytest.approx(2.045 * 8.305 / math.sqrt(30), abs=1)
    assert (thinking.text, thinking.note) == ("–", "not known")
    assert accuracy.text == "20.0\u00a0%"
    differences = [line.label for line in section.difference_table.lines]
    assert differences == ["low less medium", "low less high", "medium less high"]


def test_some_of_the_tokens_are_said_to_be_some():
    rows = pd.DataFrame({"base_id": ["a", "b", "c"], "domain": "x", "output_tokens": [1, 2, NAN]})
    step = StepPoint.build("low", "a", {}, Evidence(requests=3, answers=3), rows)
    section = ThinkingSection({}, [ThinkingCurve(AXIS, [step])], {})
    (line,) = section.table.lines
    assert (line.cells[0].text, line.cells[0].note) == ("2", "of 2 of 3 answers")


def test_the_axis_is_logarithmic_with_round_numbers():
    points = [CurvePoint("low", 300, Rate(0.2)), CurvePoint("high", 3000, Rate(0.4))]
    chart = CurveChart("id", "Accuracy", "by tokens", [CurveLine("luna", points)])
    ends = chart.place(200), chart.place(4500)
    assert ends == pytest.approx((0, 1))
    assert chart.place(math.sqrt(200 * 4500)) == pytest.approx(0.5)
    assert [text for _, text in chart.ticks] == ["200", "500", "1,000", "2,000"]
    assert (
        chart.spoken
        == "luna, low: 20.0\u00a0% at 300 tokens. luna, high: 40.0\u00a0% at 3,000 tokens."
    )
    wide = [CurvePoint("a", 1, Rate(0.1)), CurvePoint("b", 100_000, Rate(0.1))]
    wide_chart = chart._replace(lines=[CurveLine("luna", wide)])
    assert [text for _, text in wide_chart.ticks] == [
        "1",
        "10",
        "100",
        "1,000",
        "10,000",
        "100,000",
    ]
    assert chart._replace(lines=[]).ticks == [(pytest.approx(0.5), "1")]


def test_axes_are_those_of_judges_that_have_one():
    entry = {"name": "luna", "backend": "openai", "model": "m", "family": "f", "roles": ["judge"]}
    efforts = {"reasoning_effort": ["low", "high"]}
    judges = [Model.model_validate(entry), Model.model_validate(entry | {"thinking": efforts})]
    (axis,) = list_axes(judges)
    steps = {"default": "luna", "low": "luna_low", "high": "luna_high"}
    assert axis == ThinkingAxis("luna", "reasoning_effort", steps)
