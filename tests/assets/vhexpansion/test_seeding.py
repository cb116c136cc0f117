"""Cases made of rows: of users' collections, and of another benchmark's questions."""

import logging
from collections import Counter

import pytest
from PIL import Image

from assets.kit.forecast import NotCountable
from assets.kit.step_run import StepRun
from assets.kit.yes_no import YesNoQuestion
from assets.vhexpansion.case_sources import (
    cases_from_collection,
    cases_from_questions,
    reject_repeats,
)
from assets.vhexpansion.seed_cases import SeedCases
from assets.vlmbias.questions import QUESTIONS
from assets.vlmbias.yes_no import YES_NO_QUESTIONS
from generators.domains import load_domains
from generators.tiles import encode_png
from resources.models.catalog import Catalog
from resources.storage.image_store import ImageStore


def row(number, question, answer, options=None, **columns):
    """A row of a collection, about a picture of its own."""
    return {
        "image_id": f"mine/{number}",
        "row": number,
        "outcome": "taken",
        "reason": None,
        "sha256": f"sha {number}",
        "width": 8,
        "height": 6,
        "file": f"{number}.jpg",
        "domain": None,
        "question": question,
        "answer": answer,
        "options": options,
    } | columns


def asked(name="flag/Q1/stars", kind="count", truth="51", familiar="50", **columns):
    known = {"image_id": "flag", "sha256": "sha", "topic": "stars", "is_stand_in": False}
    question = "How many stars are there on this flag?" if kind == "count" else "Is it a flag?"
    known |= {"question": question, "full_question": f"{question} Answer with a number."}
    return YesNoQuestion(
        name=name, kind=kind, truth=truth, familiar_answer=familiar, **known | columns
    )


def ended(cases):
    return [(case["question"], case["answer"], case["origin"], case["outcome"]) for case in cases]


def test_yes_no_questions_stand_as_they_are():
    rows = [
        row(1, "Is there a dog in the image?", "yes"),
        row(2, "Is there a cat in the image?", " No. "),
        row(3, "Can you see it?", "(b)", "(a) Yes (b) No"),
        row(4, "Is this statement correct: it is red?", "(a)", "(a) Correct (b) Incorrect"),
    ]
    cases = cases_from_collection("mine", rows, seed=0)
    assert ended(cases) == [
        ("Is there a dog in the image?", "yes", "as it stands", "taken"),
        ("Is there a cat in the image?", "no", "as it stands", "taken"),
        ("Can you see it?", "no", "as it stands", "taken"),
        ("Is this statement correct: it is red?", "yes", "as it stands", "taken"),
    ]
    assert {case["stated"] for case in cases} == {None}


@pytest.mark.parametrize("seed", [0, 7])
def test_options_are_stated_right_and_wrong_in_equal_shares_by_lot(seed):
    rows = [
        row(number, "Is the door open or closed?", "(a)", "(a) Open (b) Closed")
        for number in range(41)
    ]
    cases = cases_from_collection("mine", rows, seed)
    assert Counter(case["answer"] for case in cases) == {"yes": 21, "no": 20}
    said = {(case["question"], case["answer"], case["stated"], case["truth"]) for case in cases}
    assert said == {
        ("Is the door open?", "yes", "Open", "Open"),
        ("Is the door closed?", "no", "Closed", "Open"),
    }
    assert cases == cases_from_collection("mine", rows, seed)
    other = cases_from_collection("mine", rows, seed + 1)
    assert [case["answer"] for case in cases] != [case["answer"] for case in other]


def test_of_several_options_another_one_is_stated_by_lot():
    text = "What color is the hen?"
    rows = [row(n, text, "c", "(a) Red (b) Black (c) White") for n in range(30)]
    wrong = {
        case["stated"] for case in cases_from_collection("mine", rows, 0) if case["answer"] == "no"
    }
    assert wrong == {"Red", "Black"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("Is it red?", "maybe"), "neither yes nor no.*name the column `options`"),
        (("Is it red?", "(a)"), "neither yes nor no.*name the column `options`"),
        (("Is it red?", "(c)", "(a) Yes (b) No"), "none of its options"),
        (("Is it red?", "(a)", "Yes or No"), "Its options are 'Yes or No'"),
        (("From where is it taken?", "(a)", "(a) Front (b) Side"), "does not name its two options"),
    ],
)
def test_a_row_of_which_nothing_can_be_made_is_rejected_and_the_rest_goes_on(given, why):
    rows = [row(1, *given), row(2, "Is it blue?", "yes")]
    bad, good = cases_from_collection("mine", rows, 0)
    assert (bad["outcome"], good["outcome"]) == ("rejected", "taken")
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(bad["reason"])


def test_what_the_collection_rejected_stays_rejected_under_a_name_of_its_own():
    gone = {"outcome": "rejected", "reason": "It is not there.", "sha256": None, "file": None}
    rows = [row(1, "Is it?", "yes"), row(2, None, None, **gone | {"image_id": "mine/1"})]
    cases = cases_from_collection("mine", rows, 0)
    assert [case["case_id"] for case in cases] == ["mine/1", "mine#2"]
    assert cases[1]["reason"] == "It is not there."


def test_questions_about_one_picture_share_its_name_whatever_its_rows_are_called():
    rows = [
        row(1, "Is there a dog?", "yes", sha256="x"),
        row(2, "Is there a cat?", "no", sha256="x", file="copy.jpg"),
        row(3, "Is there a cat?", "no", sha256="y", file=None),
    ]
    names = [case["image_id"] for case in cases_from_collection("mine", rows, 0)]
    assert names == ["mine/1.jpg", "mine/1.jpg", "mine/3"]


def test_a_case_that_is_there_already_is_rejected():
    rows = [
        row(1, "Is there a dog?", "yes", sha256="x"),
        row(2, "is there  a dog?", "yes", sha256="x"),
        row(3, "Is there a cat?", "no", sha256="x"),
        row(4, "Is there a dog?", "yes", sha256="y"),
    ]
    cases = list(reject_repeats(cases_from_collection("mine", rows, 0)))
    assert [case["outcome"] for case in cases] == ["taken", "rejected", "taken", "taken"]
    assert cases[1]["reason"] == "It asks the same of the same picture as mine/1."


def test_of_two_answers_to_one_question_neither_is_taken():
    rows = [
        row(1, "Is there a dog?", "yes", sha256="x"),
        row(2, "is there a dog?", "no", sha256="x"),
        row(3, "Is there a dog?", "yes", sha256="x"),
        row(4, "Is there a cat?", "yes", sha256="x"),
    ]
    cases = list(reject_repeats(cases_from_collection("mine", rows, 0)))
    assert [case["outcome"] for case in cases] == ["rejected"] * 3 + ["taken"]
    assert [case["reason"] for case in cases[:2]] == [
        f"It asks the same of the same picture as mine/{other}, where another answer is right. "
        "Correct the wrong one."
        for other in (2, 1)
    ]


def test_counting_questions_are_asked_with_both_numbers():
    cases = list(cases_from_questions("flags", [None], lambda row: [asked()]))
    assert ended(cases) == [
        ("Are there 51 stars on this flag?", "yes", "count as it is", "taken"),
        ("Are there 50 stars on this flag?", "no", "count as expected", "taken"),
    ]
    assert [case["case_id"] for case in cases] == [
        "flag/Q1/stars/as-it-is",
        "flag/Q1/stars/as-expected",
    ]
    assert [case["stated"] for case in cases] == ["51", "50"]


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (asked(truth="50"), "usually so is right"),
        (asked(unfit_reason="It was the flag of 1949."), "It was the flag of 1949."),
        (asked(question="Name the stars."), "does not ask how many"),
    ],
)
def test_other_counting_questions_are_rejected(question, why):
    (case,) = cases_from_questions("flags", [None], lambda row: [question])
    assert case["outcome"] == "rejected"
    assert why in case["reason"]


def test_a_yes_no_question_of_another_benchmark_stands_as_it_is():
    question = asked("flag/Q3", "yes/no", "No", "Yes")
    (case,) = cases_from_questions("flags", [None], lambda row: [question])
    assert ended([case]) == [("Is it a flag?", "no", "as it stands", "taken")]
    assert (case["truth"], case["familiar_answer"], case["stated"]) == ("No", "Yes", None)


def question_of_vlmbias(question_id, text, truth, bias, **columns):
    return {
        "image_id": "flags/china/384",
        "sha256": "sha",
        "question_id": question_id,
        "target": "big stars",
        "subtopic": "stars",
        "question": f"{text} Answer in curly brackets, e.g., {{9}}.",
        "ground_truth": truth,
        "expected_bias": bias,
        "is_stand_in": False,
        "disputable": None,
    } | columns


def test_vlmbias_declares_what_is_yes_or_no_and_each_count_once():
    rows = [
        question_of_vlmbias("Q1", "How many stars are there?", "6", "5"),
        question_of_vlmbias("Q2", "Count the stars.", "6", "5"),
        question_of_vlmbias("Q3", "Is this the flag of China?", "No", "Yes"),
        question_of_vlmbias("N1", "What flag is this?", "Flag of China", "Flag of China"),
        question_of_vlmbias("N2", "How many stars are there in it?", "6", "5"),
    ]
    found = [each for row in rows for each in YES_NO_QUESTIONS.to_questions(row)]
    assert [(each.name, each.kind, each.question) for each in found] == [
        ("flags/china/384/Q1/big-stars", "count", "How many stars are there?"),
        ("flags/china/384/Q3/big-stars", "yes/no", "Is this the flag of China?"),
    ]
    (disputed,) = YES_NO_QUESTIONS.to_questions(rows[2] | {"disputable": "It was, until 1949."})
    assert disputed.unfit_reason == "It was, until 1949."


def test_every_question_that_is_drawn_has_a_name_of_its_own():
    """The same grid is asked about in several cells, by one question_id."""
    for name, domain in load_domains().items():
        names = Counter(
            each.name
            for scene in domain.draw_module.list_scenes(0)
            for said in domain.ask_module.write_questions(scene)
            for each in YES_NO_QUESTIONS.to_questions(
                question_of_vlmbias(
                    said.question_id,
                    said.text,
                    said.ground_truth,
                    said.expected_bias,
                    image_id=scene.base_id,
                    target=said.target,
                )
            )
        )
        assert set(names.values()) == {1}, name


def seeded(tmp_path, table, **config):
    """The rows of the step for the flags, where vlmbias/questions is `table`."""
    step = SeedCases(Catalog(()))
    stores = ImageStore(root=str(tmp_path)), None, logging.getLogger("seeding")
    work = StepRun("flags", step.config(**config), {}, {}, None, *stores, lambda key, part: table)
    return step.rows(work)


def questions_of_vlmbias(digests):
    columns = dict.fromkeys(QUESTIONS.columns)
    rows = [
        question_of_vlmbias("Q3", f"Is it flag {n}?", "No", "Yes", sha256=digest)
        | {"image_id": f"flags/{n}"}
        for n, digest in enumerate(digests)
    ]
    return QUESTIONS.build_table([columns | row for row in rows]).to_pandas()


def test_the_step_finds_sizes_and_rejects_what_has_no_picture(tmp_path):
    digest = ImageStore(root=str(tmp_path)).put(encode_png(Image.new("RGB", (12, 7))))
    table = questions_of_vlmbias([digest, "f" * 64, digest])
    first, gone, last = seeded(tmp_path, table, seed=3)
    assert (first["width"], first["height"], first["seed"], first["case_number"]) == (12, 7, 3, 0)
    assert (gone["outcome"], gone["width"]) == ("rejected", None)
    assert "not in the image store" in gone["reason"]
    assert last["case_id"] == "flags/2/Q3/big-stars"
    limited = seeded(tmp_path, table, limit=1)
    assert [row["outcome"] for row in limited].count("taken") == 1


def test_a_dataset_without_a_table_says_which_one(tmp_path):
    with pytest.raises(NotCountable, match=r"vlmbias/questions \(flags\)"):
        seeded(tmp_path, None)
