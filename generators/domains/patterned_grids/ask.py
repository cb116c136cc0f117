"""The questions about the patterned grids (VLMBias, App. A and I.2)."""

import re
from typing import Literal

from generators.reading import Inquiry, build_count_inquiry, build_yes_no_inquiry
from generators.scene import Question, Scene

NUMBER = "Answer with a number in curly brackets, e.g., {9}."
YES_OR_NO = "Answer in curly brackets, e.g., {Yes} or {No}."

_HOW_MANY = re.compile(r"How many (circles|lines) are there in cell ([A-Z]\d+)\?")
_COUNT = re.compile(r"Count the (circles|lines) in cell ([A-Z]\d+)\.")
_CONTAINS = re.compile(r"Does cell ([A-Z]\d+) contain (\d+) (circles|lines)\?")


def write_questions(scene: Scene) -> list[Question]:
    """Q1, Q2 and Q3 for each cell that the scene is asked about.

    Both changes of a cell ask its original the same; such a question is asked once and stands with
    the removals. The sanity check has no questions here: a grid is made up and known to nobody
    (Section 4.1).
    """
    return [question for target in scene.truths for question in _build_questions(scene, target)]


def parse_question(prompt: str) -> Inquiry | None:
    """Find what to measure in which cell for a prompt; None if it names no cell of a grid."""
    if match := _HOW_MANY.search(prompt) or _COUNT.search(prompt):
        return build_count_inquiry(f"{match[1]} in {match[2]}")
    if match := _CONTAINS.search(prompt):
        return build_yes_no_inquiry({f"{match[3]} in {match[1]}": int(match[2])})
    return None


def _build_questions(scene: Scene, target: str) -> list[Question]:
    marks, cell = target.split(" in ")
    truth, usual = round(scene.truths[target]), round(scene.standards[target])

    def question(
        question_id: Literal["Q1", "Q2", "Q3"], text: str, ground_truth: str, expected_bias: str
    ) -> Question:
        return Question(
            question_id=question_id,
            target=target,
            subtopic=scene.subtopic,
            text=text,
            ground_truth=ground_truth,
            expected_bias=expected_bias,
        )

    return [
        question(
            "Q1", f"How many {marks} are there in cell {cell}? {NUMBER}", str(truth), str(usual)
        ),
        question("Q2", f"Count the {marks} in cell {cell}. {NUMBER}", str(truth), str(usual)),
        question(
            "Q3",
            f"Does cell {cell} contain {usual} {marks}? {YES_OR_NO}",
            "Yes" if truth == usual else "No",
            "Yes",
        ),
    ]
