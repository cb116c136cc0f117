"""The answers of a judge about both pictures of each pair."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from assets.cdh_bench.common import SETS, asset_key
from assets.cdh_bench.questions import LETTERS, QUESTIONS
from assets.kit.columns import REAL, TEXT, Columns
from assets.kit.judging import REPLY_COLUMNS, StandInAnswers
from assets.kit.limits import LimitConfig
from assets.kit.picture_questions import PictureQuestionStep, parsed_columns, write_answer
from assets.kit.step import StepAsset, StepTable
from assets.kit.step_run import Row, StepRun, single_input
from metrics import ParsedAnswer, read_choice, read_yes_no, score_answer
from resources.storage.image_store import ImageStore

_QUESTION = QUESTIONS.subset(
    *("image_id", "set", "pair_id", "category", "subcategory", "form", "side", "sha256"),
    *("question", "options", "ground_truth", "expected_bias"),
)
ANSWERS = Columns(
    **_QUESTION,
    model=(TEXT, "The judge, as models.yaml names it"),
    **REPLY_COLUMNS,
    answer=(TEXT, "Answer read from the curly brackets; empty if unreadable"),
    score=(REAL, "1 right, 0 wrong or unparsed; empty if refused or failed"),
    usual=(REAL, "1 where common sense gives the answer; empty if refused or failed"),
)


def _answer_by_chance(row: Row, images: ImageStore) -> Mapping[str, Any]:
    choices = LETTERS[: len(row["options"])] or ("Yes", "No")
    return write_answer(Random(f"{row['sha256']}/{row['image_id']}").choice(choices))


STAND_IN_ANSWERS: StandInAnswers = {
    "prior": lambda row, images: write_answer(row["expected_bias"]),
    "random": _answer_by_chance,
}


class ContrastAnswers(PictureQuestionStep):
    """A judge's answers to both forms of question about both pictures; a limit is on pairs."""

    stand_in_answers = STAND_IN_ANSWERS
    item_columns, strata_columns, unit = ("pair_id",), ("category",), "pairs"
    inputs = single_input("cdh_bench/questions", QUESTIONS)
    asset = StepAsset(
        key=asset_key("answers"),
        partitions_def=SETS.build_partitions,
        description="Answers of {model} about usual and unusual pictures, asked through {backend}.",
    )
    table = StepTable(
        columns=ANSWERS,
        key_columns=("image_id",),
        filled_columns={
            "answered": ("answer", "score", "usual"),
            "unparsed": ("score", "usual"),
            "refused": ("refusal",),
            "failed": (),
        },
    )
    unparsed_check = (
        "form",
        "Read some of the table's responses: answers stand in curly brackets.",
    )

    def list_rows(self, work: StepRun[LimitConfig]) -> list[Row]:
        """List the questions that were taken."""
        return [
            {name: row[name] for name in _QUESTION}
            for row in work.read_rows("upstream")
            if row["outcome"] == "taken"
        ]

    def read_reply(self, row: Row) -> dict[str, Any]:
        """Read and score the answer of a reply."""
        return score_reply(row)


def score_reply(row: Row) -> dict[str, Any]:
    """Build `answer`, `outcome`, `score` and `usual` of a row's `response`."""
    options = [*row["options"]]
    parsed = read_letter(row["response"], options) if options else read_yes_no(row["response"])
    return {
        **parsed_columns(parsed),
        "score": score_answer(parsed, row["ground_truth"]),
        "usual": score_answer(parsed, row["expected_bias"]),
    }


def read_letter(response: str, options: Sequence[str]) -> ParsedAnswer:
    """The letter that a reply names in curly brackets, alone, with its option, or by the option.

    >>> read_letter("I count {B. six fingers}.", ["five fingers", "six fingers"]).answer
    'B'
    """
    letters = zip(LETTERS, options, strict=False)
    return read_choice(
        response,
        {
            letter: (letter, f"{letter}. {option}", f"{option} ({letter})", option)
            for letter, option in letters
        },
    )
