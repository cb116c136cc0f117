"""Numbers before and after fine-tuning, of answers that are written by hand."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.vhexpansion.mitigation import MitigationTableConfig, _compare, _format_card_row, _Tuned
from assets.vhexpansion.tuned_answers import (
    NOT_JUDGED,
    measure_general_questions,
    measure_symmetric_accuracy,
)
from metrics.vhexpansion.mme_scores import COGNITION
from resources.storage.data_root import DataRoot
from tests.assets.vhexpansion.test_numbers import served

FORMS = ("original", "negated")
ZOO = [f"zoo/{n}" for n in range(4)]


def answer(case, right, form="original", perturbation="none", **columns):
    return {
        "case_id": case,
        "image_id": f"image of {case}",
        "original": f"sha of {case}",
        "form": form,
        "truth": "yes",
        "answer": {True: "yes", False: "no", None: None}[right],
        "correct": right,
        "response": {True: "{Yes}", False: "{No}", None: "A dog."}[right],
        "repeat": 0,
        "outcome": "unparsed" if right is None else "answered",
        "perturbation": perturbation,
        "encoder": None if perturbation == "none" else "llava",
        "parameters": None,
        "is_stand_in": False,
    } | columns


def pairs(right, perturbation="none"):
    """By case: whether both forms are right; the negation of a case that is not is wrong."""
    return [
        answer(case, bool(both) or form == "original", form, perturbation)
        for case, both in zip(ZOO, right, strict=True)
        for form in FORMS
    ]


@pytest.fixture
def home(tmp_path):
    return DataRoot(root=str(tmp_path))


def store(home, name, dataset, rows):
    path = Path(home.root, "vhexpansion", name, f"{dataset}.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def test_held_out_cases_alone_are_counted_as_they_were_and_attacked(home):
    before = [*pairs([0, 0, 0, 1]), *pairs([0, 0, 0, 0], "pgd"), *pairs([1, 1, 1, 1], "jpeg")]
    after = [*pairs([1, 1, 0, 1]), *pairs([1, 0, 0, 0], "pgd"), *pairs([1, 1, 1, 1], "jpeg")]
    store(home, "answers_llava", "zoo", before)
    store(home, "answers_tuned", "zoo", after)
    held = pd.DataFrame({"case_id": ZOO[1:]})
    found = {
        each.picture_set: each
        for each in measure_symmetric_accuracy(home, "zoo", held, "tuned", "llava")
    }
    assert found["none"].value == pytest.approx(2 / 3)
    assert found["attacked"].value == 0
    assert found["all"].value == pytest.approx(2 / 6)
    assert found["all"].cases == 6
    assert found["all"].images == 3
    assert found["none"].change == pytest.approx(1 / 3)
    assert found["all"].change == pytest.approx(1 / 6)
    assert found["all"].change_low <= found["all"].change <= found["all"].change_high
    (base,) = (
        each
        for each in measure_symmetric_accuracy(home, "zoo", held, "llava", None)
        if each.picture_set == "all"
    )
    assert base.value == pytest.approx(1 / 6)
    assert base.change is None


def test_what_was_asked_in_vain_is_not_said_to_be_unasked(home):
    """As a model that was broken by its learning rate: what it says is no answer."""
    store(home, "answers_tuned", "zoo", [answer(ZOO[0], None, form) for form in FORMS])
    (found, over_all) = measure_symmetric_accuracy(
        home, "zoo", pd.DataFrame({"case_id": ZOO}), "tuned", None
    )
    assert (found.value, found.reason, found.unanswered) == (None, "no pair was answered", 2)
    assert over_all.reason == found.reason


def test_a_model_card_says_how_much_has_no_answer():
    """One right answer of 80, or all 80: the share is the same."""
    row = {"arm": "before", "learning_rate": None, "measure": "general", "dataset": "vqa"}
    row |= {"picture_set": None, "value": 1.0, "low": 0.025, "high": 1.0, "reason": ""}
    assert _format_card_row(row | {"unanswered": 0})["value"] == "1 (0.025 to 1)"
    assert _format_card_row(row | {"unanswered": 79})["value"] == "1 (0.025 to 1), 79 unanswered"


def test_what_was_not_asked_says_so(home):
    held = pd.DataFrame({"case_id": ZOO})
    (found,) = measure_symmetric_accuracy(home, "zoo", held, "tuned", "llava")
    assert (found.value, found.reason) == (None, NOT_JUDGED)
    scores = list(measure_general_questions(home, held, "mme", "tuned", "llava"))
    assert [(each.measure, each.reason) for each in scores] == [
        *(("perception", NOT_JUDGED), ("cognition", NOT_JUDGED))
    ]


def write_mme(home):
    """MME's questions about cognition, each fourth one answered with neither yes nor no."""
    asked = [(f"mme/{task}/{at}", task, at) for task in COGNITION for at in range(4)]
    rows = [
        answer(case, right=None if at == 3 else True, image_id=f"{task} {at // 2}")
        for case, task, at in asked
    ]
    store(home, "clean_answers_tuned", "mme", rows)
    store(home, "seed_cases", "mme", [{"case_id": c, "topic": t} for c, t, _ in asked])
    return rows


def test_mme_is_scored_by_its_rule_of_the_collection_that_is_named(home):
    rows = write_mme(home)
    perception, cognition = measure_general_questions(home, pd.DataFrame(), "mme", "tuned", None)
    assert perception.reason == "existence has no questions"
    # What is neither yes nor no is wrong: three of four questions, one of two pictures.
    assert cognition.value == 4 * (75 + 50)
    assert cognition.unanswered == 4
    first_characters = [{**rows[0], "response": "It is so: {Yes}"}, *rows[1:]]
    store(home, "clean_answers_tuned", "mme", first_characters)
    assert (
        list(measure_general_questions(home, pd.DataFrame(), "mme", "tuned", None))[1].value
        == 3 * 125 + 50
    )
    failed = [{**rows[0], "response": None, "outcome": "failed"}, *rows[1:]]
    store(home, "clean_answers_tuned", "mme", failed)
    _, cognition = measure_general_questions(home, pd.DataFrame(), "mme", "tuned", None)
    assert cognition.value is None
    assert cognition.reason == "1 of 4 questions of commonsense_reasoning have no answer"


@pytest.mark.parametrize("mark", ["code_reasoning 1", "sha of mme/code_reasoning/2"])
def test_a_sum_of_mme_is_none_where_an_adapter_was_trained_on_its_pictures(home, mark):
    """A general question, or a case, may show one of them: by its name or by its bytes."""
    write_mme(home)
    apart = list(
        measure_general_questions(
            home, pd.DataFrame(), "mme", "tuned", None, frozenset({"another"})
        )
    )
    assert apart[1].value == 4 * (75 + 50)
    _, cognition = measure_general_questions(
        home, pd.DataFrame(), "mme", "tuned", None, frozenset({mark})
    )
    assert (cognition.value, cognition.low) == (None, None)
    assert cognition.reason == "its adapter was trained on 1 of 8 pictures: code_reasoning 1"


def test_what_an_adapters_arm_has_is_what_it_was_trained_on(home):
    write_mme(home)
    learned = {"base": "sha of mme/text_translation/0", "original": "sha of mme/text_translation/0"}
    cases = pd.DataFrame([{"arm": "expanded", "kind": "vqa", "dataset": "llava_mix", **learned}])
    judge = served("tuned", 0.2)
    for arm, found in (("expanded", None), ("original", 4 * (75 + 50))):
        row = {"arm": arm, "learning_rate": 1.8e-6, "adapter": "a", "is_stand_in": False}
        every = _compare(home, MitigationTableConfig(mme="mme"), cases, _Tuned(row, judge, None))
        (value,) = (
            each["value"] for each in every if (each["arm"], each["measure"]) == (arm, "cognition")
        )
        assert value == found


def test_general_questions_that_were_held_out_are_the_test_without_mme(home):
    store(home, "clean_answers_llava", "vqa", [answer(case, right=True) for case in ZOO])
    store(home, "clean_answers_tuned", "vqa", [answer(c, right=c != ZOO[2]) for c in ZOO])
    held = pd.DataFrame({"case_id": ZOO[1:], "dataset": "vqa"})
    (found,) = measure_general_questions(home, held, None, "tuned", "llava")
    assert (found.measure, found.dataset, found.cases) == ("general", "vqa", 3)
    assert found.value == pytest.approx(2 / 3)
    assert found.change == pytest.approx(-1 / 3)
