"""The illusions' questions: the paper's words, and answers from what the pixels show."""

import pytest

from generators.domains.optical_illusions.ask import parse_question, write_questions
from generators.domains.optical_illusions.draw import list_scenes
from tests.generators.domains.samples import readings

SCENES = list_scenes(0)
FORMAT = " Answer in curly brackets, e.g., {Yes} or {No}."
QUESTIONS = {
    "Ebbinghaus": (
        "Are the two inner circles equal in size?",
        "Do the two inner circles have the same size?",
        "Is this an example of the Ebbinghaus illusion?",
    ),
    "Müller-Lyer": (
        "Are the two horizontal lines equal in length?",
        "Do the two horizontal lines have the same length?",
        "Is this an example of the Müller-Lyer illusion? Answer with Yes/No.",
    ),
    "Poggendorff": (
        "Are the two diagonal line segments aligned?",
        "Do the two diagonal lines form a straight line?",
        "Is this an example of the Poggendorff illusion?",
    ),
    "Ponzo": (
        "Are the two horizontal lines equal in length?",
        "Do the two horizontal lines have the same length?",
        "Is this an example of the Ponzo illusion?",
    ),
    "Vertical–Horizontal": (
        "Are the horizontal and vertical lines equal in length?",
        "Do the horizontal and vertical lines have the same length?",
        "Is this an example of the Vertical–Horizontal illusion?",
    ),
    "Zöllner": (
        "Are the two horizontal lines parallel?",
        "Do the two horizontal lines run parallel?",
        "Is this an example of the Zöllner illusion?",
    ),
}


def asked(scene):
    return [
        question
        for question in write_questions(scene)
        if question.question_id in ("Q1", "Q2", "Q3")
    ]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.base_id)
def test_words_truth_and_bias_are_the_papers(scene):
    questions = asked(scene)
    assert [q.question_id for q in questions] == ["Q1", "Q2", "Q3"]
    assert [q.text for q in questions] == [text + FORMAT for text in QUESTIONS[scene.subject]]
    equal = scene.subtopic == "original"
    assert {q.ground_truth for q in questions} == {"Yes" if equal else "No"}
    assert [q.expected_bias for q in questions] == [*2 * ["No" if equal else "Yes"], "Yes"]
    assert {(q.target, q.subtopic) for q in questions} == {(scene.target, scene.subtopic)}


def test_readings_answer_with_the_truth_whatever_stands_around():
    for scene in SCENES:
        for question in asked(scene):
            inquiry = parse_question(f"Do not assume. {question.text} Thank you.")
            answer = inquiry.answer([readings(scene)[target] for target in inquiry.targets])
            assert answer == question.ground_truth, scene.base_id


def test_shared_words_take_the_smaller_threshold():
    shared = parse_question("Are the two horizontal lines equal in length?")
    named = parse_question("Is this an example of the Müller-Lyer illusion?")
    assert shared.targets == named.targets == ("difference of horizontal line lengths (ratio - 1)",)
    assert [shared.answer([x]) for x in (0.07, 0.08)] == ["Yes", "No"]
    assert [named.answer([x]) for x in (0.14, 0.16)] == ["Yes", "No"]


def test_other_prompts_are_not_ours():
    assert parse_question("How many stars are there on this flag?") is None
