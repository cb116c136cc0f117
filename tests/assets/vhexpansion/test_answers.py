"""What judges are asked about cases, and how replies are read."""

import pytest

from assets.vhexpansion.answers import YesNoAnswersConfig
from assets.vhexpansion.yes_no_step import parse_answer
from metrics import symmetry_table
from metrics.reply_parsing.plain_answers import VERSION
from tests.assets.vhexpansion.cases import (
    answers,
    attack,
    case,
    perturbed,
    reference,
    table_of,
)
from tests.assets.vhexpansion.test_numbers import attacked

ZOO = [case(0), case(1, "no"), case(2, image="image 0")]
PICTURES = [perturbed("image 0"), perturbed("image 1"), perturbed("image 0", "jpeg")]


def test_every_case_its_negation_and_both_of_each_perturbed_picture_are_asked_about():
    rows = answers(reference("gullible"), ZOO, PICTURES, repeats=2)
    asked = {(row["case_id"], row["perturbation"], row["form"], row["repeat"]) for row in rows}
    assert len(rows) == len(asked) == 2 * 2 * (3 + 2 + 3)
    first = {row["perturbation"] for row in rows if row["case_id"] == "zoo/2"}
    assert first == {"none", "noise", "jpeg"}
    shown = {row["sha256"] for row in rows if row["perturbation"] == "jpeg"}
    assert shown == {"sha of image 0 with jpeg"}
    negated = [row for row in rows if row["form"] == "negated" and row["case_id"] == "zoo/1"]
    assert {(row["question"], row["truth"]) for row in negated} == {
        ("Is there no animal of kind 1?", "yes")
    }


def test_few_rows_at_once_make_the_same_table(monkeypatch):
    whole = answers(reference("random"), ZOO, PICTURES)
    monkeypatch.setattr("assets.kit.step.PORTION", 5)
    assert [*answers(reference("random"), ZOO, PICTURES)] == [*whole]


def test_what_cannot_be_negated_or_perturbed_is_not_asked():
    cases = [case(0), case(1, outcome="rejected"), case(2, outcome="left out")]
    pictures = [perturbed("image 0", outcome="inapplicable", sha256=None)]
    rows = answers(reference("gullible"), cases, pictures)
    assert {(row["case_id"], row["perturbation"]) for row in rows} == {("zoo/0", "none")}


def test_attacks_for_every_encoder_are_shown_to_every_judge_and_failed_ones_to_none():
    encoders = [attacked("one", "llava"), attacked("two", "next")]
    attacks = [
        attack(0, "one"),
        attack(0, "one", "i_fgsm"),
        attack(0, "two"),
        attack(1, "two", outcome="failed", sha256=None),
    ]
    known = {"attacks": attacks, "attacked_on": encoders, "repeats": 1}
    judge = reference("gullible")

    def shown(**config):
        rows = answers(judge, ZOO, **known, **{"perturbations": ["pgd", "i_fgsm"]} | config)
        assert {row["form"] for row in rows} == {"original", "negated"}
        return {(row["case_id"], row["encoder"], row["perturbation"]) for row in rows}

    all_of_them = {
        ("zoo/0", "one", "pgd"),
        ("zoo/0", "one", "i_fgsm"),
        ("zoo/0", "two", "pgd"),
    }
    assert shown() == all_of_them
    assert shown(**{"encoders": ["two"]}) == {("zoo/0", "two", "pgd")}


@pytest.mark.parametrize(
    ("config", "left"),
    [
        ({"repeats": 1}, 16),
        ({"repeats": 1, "forms": ["original"]}, 8),
        ({"repeats": 1, "perturbations": ["none", "jpeg"]}, 10),
        ({"repeats": 1, "limit": 1}, 4),
    ],
)
def test_less_can_be_asked(config, left):
    assert len(answers(reference("gullible"), ZOO, PICTURES, **config)) == left


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"forms": ["negatd"]}, "no 'negatd', did you mean negated"),
        ({"perturbations": ["jpg"]}, "no 'jpg', did you mean jpeg"),
        ({"repeats": 0}, "repeats"),
    ],
)
def test_a_config_that_is_wrong_is_refused(config, said):
    with pytest.raises(ValueError, match=said):
        YesNoAnswersConfig(**config)


@pytest.mark.parametrize(
    ("response", "answer", "outcome"),
    [
        ("{Yes}", "yes", "answered"),
        ("There is none, so {no}.", "no", "answered"),
        ("No, there is none.", "no", "answered"),
        ("**Yes**", "yes", "answered"),
        ("{Yes} or {No}", None, "unparsed"),
        ("No dog is there.", None, "unparsed"),
        ("Yes, they differ in colour, but not in size.", "yes", "answered"),
        ("Yes and no.", None, "unparsed"),
        ("Yes. Well, no.", None, "unparsed"),
        ("I cannot tell from this picture.", None, "unparsed"),
        ("", None, "unparsed"),
        ("I cannot help with that.", None, "refused"),
    ],
)
def test_replies_are_read(response, answer, outcome):
    row = {"truth": "yes", "outcome": "answered", "response": response, "reason": None}
    found = row | parse_answer(row)
    assert (found["answer"], found["outcome"]) == (answer, outcome)
    assert found["correct"] is (None if answer is None else answer == "yes")
    assert (found["reason"] is None) == (answer is not None)
    assert found["reading_version"] == VERSION


class TestReferenceJudges:
    def numbers(self, judge, cases, pictures=()):
        rows = table_of(answers(reference(judge), cases, pictures))
        rows["encoder"] = rows["encoder"].fillna("")
        rows["base_id"] = rows["image_id"]
        by = ["model", "perturbation"]
        return symmetry_table(rows, by, {"perturbation": "none"}).set_index("perturbation")

    def test_gullible_is_right_in_the_share_of_yes_and_in_no_pair(self):
        cases = [case(n, "yes" if n < 7 else "no") for n in range(10)]
        found = self.numbers("gullible", cases, [perturbed("image 0")]).loc["none"]
        assert (found["accuracy"], found["symmetric"], found["both_yes_rate"]) == (0.7, 0, 1)
        assert found["new_cases"] == 7

    def test_random_is_right_in_half_of_the_cases_and_a_quarter_of_the_pairs(self):
        cases = [case(n, "yes" if n % 10 else "no") for n in range(1_000)]
        found = self.numbers("random", cases).loc["none"]
        error = (0.25 * 0.75 / 3_000) ** 0.5
        assert found["symmetric"] == pytest.approx(0.25, abs=4 * error)
        assert found["accuracy"] == pytest.approx(0.5, abs=4 * (0.25 / 3_000) ** 0.5)

    def test_prior_answers_by_what_is_usually_so(self):
        cases = [
            case(0, "no", familiar_answer="Yes"),
            case(1, "no", familiar_answer="4", stated="4", truth="5"),
            case(2, "yes", familiar_answer="4", stated="5", truth="5"),
            case(3, "yes", familiar_answer="Yes"),
            case(4),
        ]
        rows = answers(reference("prior"), cases, repeats=1)
        said = [row["answer"] for row in rows]
        assert said == ["yes", "no", "yes", "no", "no", "yes", "yes", "no", None, None]
        assert {row["outcome"] for row in rows[-2:]} == {"unparsed"}
