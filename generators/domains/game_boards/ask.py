"""The questions about game boards (VLMBias, Appendices A, G and N)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from generators.game_names import build_name_question
from generators.reading import Inquiry, build_count_inquiry, build_yes_no_inquiry
from generators.scene import Question, Scene

_NUMBER = "Answer with a number in curly brackets, e.g., {9}."
_YES_NO = "Answer in curly brackets, e.g., {Yes} or {No}."

# Rows come before columns in every name: a 10x9 Xiangqi board has 10 horizontal lines.
_STANDARD = {
    "chess": "8x8 Chessboard",
    "xiangqi": "10x9 Xiangqi board",
    "sudoku": "9x9 Sudoku puzzle",
    "go": "19x19 Go board",
}
_COUNTING = re.compile(
    r"(?:How many|Count the) (rows|columns|horizontal lines|vertical lines)"
    r"(?: are there)? on this (?:board|puzzle)"
)
_IDENTIFYING = re.compile(
    r"Is this a (\d+)x(\d+) (Chessboard|Xiangqi board|Sudoku puzzle|Go board)\?"
)


def write_questions(scene: Scene) -> list[Question]:
    """Q1 and Q2 count what was changed, Q3 asks for the standard board.

    An original is asked for both of its counts, since its counterfactuals change either, and has
    the sanity check's questions. N2 counts rows, as the paper's example for this topic does; its
    noun is the one that Q1 has for the board ("horizontal lines", a sudoku "puzzle").
    """
    if scene.variant == "counterfactual":
        return [*_build_count_questions(scene, scene.target), _build_identity_question(scene)]
    questions = [
        question for target in scene.truths for question in _build_count_questions(scene, target)
    ]
    usual_count = replace(questions[0], question_id="N2")
    return [*questions, _build_identity_question(scene), build_name_question(scene), usual_count]


def parse_question(prompt: str) -> Inquiry | None:
    """Find what to measure for a prompt of this domain; None for any other."""
    if counting := _COUNTING.search(prompt):
        return build_count_inquiry(counting[1])
    if standard := _IDENTIFYING.search(prompt):
        lines = standard[3] in ("Xiangqi board", "Go board")
        targets = ("horizontal lines", "vertical lines") if lines else ("rows", "columns")
        return build_yes_no_inquiry(
            dict(zip(targets, (int(standard[1]), int(standard[2])), strict=True))
        )
    return None


def _build_count_questions(scene: Scene, target: str) -> Iterator[Question]:
    place = "puzzle" if scene.subtopic == "sudoku" else "board"
    ways: tuple[tuple[Literal["Q1", "Q2"], str], ...] = (
        ("Q1", f"How many {target} are there on this {place}?"),
        ("Q2", f"Count the {target} on this {place}."),
    )
    for question_id, words in ways:
        yield Question(
            question_id=question_id,
            target=target,
            subtopic=scene.subtopic,
            text=f"{words} {_NUMBER}",
            ground_truth=f"{scene.truths[target]:.0f}",
            expected_bias=f"{scene.standards[target]:.0f}",
        )


def _build_identity_question(scene: Scene) -> Question:
    return Question(
        question_id="Q3",
        target=scene.target,
        subtopic=scene.subtopic,
        text=f"Is this a {_STANDARD[scene.subtopic]}? {_YES_NO}",
        ground_truth="Yes" if scene.truths == scene.standards else "No",
        expected_bias="Yes",
    )
