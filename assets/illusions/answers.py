"""The answers of one judge to two opposite questions about every picture."""

from collections.abc import Iterable
from typing import Any, get_args

from assets.illusions.common import TOPIC, asset_key
from assets.illusions.pictures import PICTURES
from assets.kit.columns import REAL, TEXT, Columns
from assets.kit.judging import REPLY_COLUMNS, StandInAnswers
from assets.kit.limits import LimitConfig
from assets.kit.picture_questions import PictureQuestionStep, parsed_columns, write_answer
from assets.kit.step import StepAsset, StepTable
from assets.kit.step_run import Row, StepRun, single_input
from generators.domains import load_domain
from generators.domains.optical_illusions.ask import EQUAL_BELOW
from generators.domains.optical_illusions.polarity_questions import (
    Polarity,
    write_polarity_question,
)
from metrics import read_yes_no
from metrics.illusions.polarity import WITHOUT
from resources.models.reference_judges import RandomJudge
from resources.storage.image_store import ImageStore

QUESTIONS = Columns(
    **PICTURES.columns,
    polarity=(TEXT, "equal or different: what the question asks whether the parts are"),
    question=(TEXT, "Question sent with the picture"),
    ground_truth=(TEXT, "Yes or No, the right answer"),
    familiar_answer=(TEXT, "Answer of one who knows the illusion: its parts are equal"),
)
ANSWERS = Columns(
    **QUESTIONS.columns,
    model=(TEXT, "The judge, as models.yaml names it"),
    answer=(TEXT, "Yes or No, read from the curly brackets; empty if unreadable"),
    judged_equal=(REAL, "1 if the answer says that the parts are equal, 0 if not; else empty"),
    **REPLY_COLUMNS,
)


def _answer(row: Row, is_equal: bool) -> dict[str, Any]:
    return write_answer("Yes" if is_equal == (row["polarity"] == "equal") else "No")


def _answer_from_pixels(row: Row, images: ImageStore) -> dict[str, Any]:
    if row["measured"] is None:
        return {"response": row["problem"], "outcome": "answered"}
    return _answer(row, abs(row["measured"]) < EQUAL_BELOW[row["illusion"]])


def _answer_at_random(row: Row, images: ImageStore) -> dict[str, Any]:
    # The sha256 of a picture is as good as its bytes.
    response = RandomJudge().answer_informed(row["question"], row["sha256"].encode(), "Yes")
    return {"response": response, "outcome": "answered"}


STAND_IN_ANSWERS: StandInAnswers = {
    "prior": lambda row, images: _answer(row, is_equal=True),
    "pixels": _answer_from_pixels,
    "random": _answer_at_random,
}


def list_questions(pictures: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows of `QUESTIONS`: two for each picture."""
    scenes = {scene.base_id: scene for scene in load_domain(TOPIC).draw_module.list_scenes(0)}
    polarities: tuple[Polarity, ...] = get_args(Polarity)
    return [
        {
            **row,
            "polarity": polarity,
            "question": write_polarity_question(
                scenes[row["scene_id"]], polarity, is_control=row["inducer"] == WITHOUT
            ),
            "ground_truth": "Yes" if row["is_equal"] == (polarity == "equal") else "No",
            "familiar_answer": "Yes" if polarity == "equal" else "No",
        }
        for row in pictures
        for polarity in polarities
    ]


class PolarityAnswers(PictureQuestionStep):
    """A judge's answers; a limit is on questions."""

    stand_in_answers = STAND_IN_ANSWERS
    item_columns, unit = ("image_id", "polarity"), "questions"
    strata_columns = ("inducer", "illusion", "is_equal")
    inputs = single_input("illusions/pictures", PICTURES)
    asset = StepAsset(
        key=asset_key("answers"),
        description="Answers of {name}: are the compared parts equal, and are they different?",
    )
    table = StepTable(
        columns=ANSWERS,
        key_columns=("image_id", "polarity"),
        filled_columns={
            "answered": ("answer", "judged_equal"),
            "unparsed": (),
            "refused": ("refusal",),
            "failed": (),
        },
    )
    unparsed_check = (
        "inducer",
        "Read some of the table's responses: a longest_output that is too small cuts them off.",
    )

    def list_rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """Two rows for each picture."""
        return list_questions(work.read_rows("upstream"))

    def read_reply(self, row: Row) -> dict[str, Any]:
        """Read the judgement of a reply."""
        return read_reply(row)


def read_reply(row: Row) -> dict[str, Any]:
    """Build `answer`, `outcome` and `judged_equal` of a row's `response`."""
    parsed = read_yes_no(row["response"])
    says_equal = (parsed.answer == "Yes") == (row["polarity"] == "equal")
    judged = {"judged_equal": float(says_equal)} if parsed.answer else {}
    return {**parsed_columns(parsed), **judged}
