"""The questions of VLMBias of which other benchmarks can make yes/no cases."""

import re
from collections.abc import Iterator

from dagster import AssetKey

from assets.kit.step_run import Row
from assets.kit.yes_no import YesNoQuestion, YesNoTable
from assets.vlmbias.common import GROUP
from assets.vlmbias.questions import QUESTIONS
from generators.topics import DRAWN, PHOTOGRAPHED

_FORM = " Answer "
"""Start of the instruction on the form of the answer."""
_COUNTING = "Q1"


def _select_yes_no(row: Row) -> Iterator[YesNoQuestion]:
    """Yield yes/no questions unchanged and, of the two counting questions, the first.

    The sanity check's questions are left out: they repeat the count, for originals alone.
    """
    is_yes_no = row["ground_truth"] in ("Yes", "No")
    if not is_yes_no and row["question_id"] != _COUNTING:
        return
    yield YesNoQuestion(
        name=format_question_name(row),
        image_id=row["image_id"],
        sha256=row["sha256"],
        question=row["question"].partition(_FORM)[0],
        kind="yes/no" if is_yes_no else "count",
        truth=row["ground_truth"],
        familiar_answer=row["expected_bias"],
        topic=row["subtopic"],
        is_stand_in=row["is_stand_in"],
        full_question=row["question"],
        unfit_reason=row["disputable"] or None,
    )


def _scene(image_id: str) -> str:
    """The scene of a picture, without its size."""
    scene, _, size = image_id.rpartition("/")
    return scene if size.isdigit() else image_id


def format_question_name(row: Row) -> str:
    """Name a question by picture, question and target: two cells of a grid are asked about each."""
    return f"{row['image_id']}/{row['question_id']}/{slugify(row['target'])}"


def slugify(target: str) -> str:
    """Write a target as part of a name."""
    return re.sub(r"\W+", "-", target).strip("-")


YES_NO_QUESTIONS = YesNoTable(
    asset=AssetKey([GROUP, "questions"]),
    columns=QUESTIONS,
    partitions=(*DRAWN, *PHOTOGRAPHED),
    to_questions=_select_yes_no,
    base_picture=_scene,
)
