"""The answers of a judge by the rule of each question."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any

from assets.game_rules.common import asset_key, games
from assets.game_rules.pictures import QUESTIONS
from assets.kit.columns import REAL, TEXT, Columns
from assets.kit.judging import REPLY_COLUMNS, StandInAnswers
from assets.kit.picture_questions import PictureQuestionStep, parsed_columns, write_answer
from assets.kit.step import StepAsset, StepTable
from assets.kit.step_run import Row, single_input
from generators.game_rules.rules import SIDES, PositionJob, read_position, write_questions
from metrics import ParsedAnswer, read_choice, score_answer
from resources.storage.image_store import ImageStore

ANSWERS = Columns(
    **QUESTIONS.columns,
    model=(TEXT, "The judge, as models.yaml names it"),
    **REPLY_COLUMNS,
    answer=(TEXT, "Side read from the curly brackets; empty if unreadable"),
    score=(REAL, "1 right, 0 wrong or unparsed; empty if refused or failed"),
    usual=(REAL, "1 where the answer is the usual rule's; empty where none can be read"),
)
_read_position = lru_cache(maxsize=1)(read_position)
"""All questions about a picture follow on each other."""


def _answer_from_pixels(row: Row, images: ImageStore) -> Mapping[str, Any]:
    """Read the position, and apply the rule of the question."""
    reading = _read_position(PositionJob(row["game"], images.get(row["sha256"])))
    questions = write_questions(row["game"], reading.winners)
    answers = {question.question: question.ground_truth for question in questions}
    return write_answer(answers[row["question"]])


def _answer_by_chance(row: Row, images: ImageStore) -> Mapping[str, Any]:
    chance = Random(f"{row['seed']}/{row['sha256']}/{row['question']}")
    return write_answer(chance.choice(SIDES[row["game"]]))


STAND_IN_ANSWERS: StandInAnswers = {
    "prior": lambda row, images: write_answer(row["expected_bias"]),
    "pixels": _answer_from_pixels,
    "random": _answer_by_chance,
}


class RuleAnswers(PictureQuestionStep):
    """A judge's answers about who has won; a limit is on positions."""

    stand_in_answers = STAND_IN_ANSWERS
    item_columns, unit = ("base_id",), "positions"
    inputs = single_input("game_rules/questions", QUESTIONS)
    asset = StepAsset(
        key=asset_key("answers"),
        partitions_def=games,
        description="Answers of {model} by the rule of each question, asked through {backend}.",
    )
    table = StepTable(
        columns=ANSWERS,
        key_columns=("image_id", "goal", "rule"),
        filled_columns={
            "answered": ("answer", "score", "usual"),
            "unparsed": ("score",),
            "refused": ("refusal",),
            "failed": (),
        },
    )
    unparsed_check = (
        "rule",
        "Read some of the table's responses: an answer stands in curly brackets.",
    )

    def read_reply(self, row: Row) -> dict[str, Any]:
        """Read and score the side of a reply."""
        return score_reply(row)


def score_reply(row: Row) -> dict[str, Any]:
    """Build `answer`, `outcome`, `score` and `usual` of a row's `response`."""
    parsed = read_side(row["response"], SIDES[row["game"]])
    return {
        **parsed_columns(parsed),
        "score": score_answer(parsed, row["ground_truth"]),
        "usual": None if parsed.answer is None else score_answer(parsed, row["expected_bias"]),
    }


def read_side(response: str, sides: Sequence[str]) -> ParsedAnswer:
    """The side that a reply names in curly brackets, also as in `{White wins}`.

    >>> read_side("Black is mated, so {white wins}.", ("White", "Black")).answer
    'White'
    """
    return read_choice(
        response, {side: (side, *(f"{side} {ending}" for ending in _ENDINGS)) for side in sides}
    )


_ENDINGS = ("side", "player", "wins", "won", "has won")
