"""The scores of a judge for each response, by what it answers to as it was and as it is changed."""

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Any

from assets.kit.columns import REAL, TEXT, Columns
from assets.kit.judging import REPLY_COLUMNS, LimitedJudgeStep, StandInAnswers, scored_columns
from assets.kit.limits import LimitConfig
from assets.kit.step import Conversation, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun, single_input
from assets.mm_judge_bias.common import SETS, asset_key
from assets.mm_judge_bias.items import ITEMS
from generators.prompts.response_scores import VERSION, write_response_score_prompt
from metrics import read_plain_rating
from metrics.mm_judge_bias.score_changes import SCALE
from resources.models.requests import LookRequest, Turn
from resources.storage.image_store import ImageStore

_ITEM = ITEMS.subset(
    *("image_id", "set", "item_id", "bias", "measure", "side", "sha256", "picture_id"),
    *("instruction", "judged_response"),
)
ANSWERS = Columns(
    **_ITEM,
    model=(TEXT, "The judge, as models.yaml names it"),
    prompt_version=(TEXT, "Version of the prompt"),
    score=(REAL, "Score of the response, 1 to 10; empty if there is none"),
    **REPLY_COLUMNS,
)
_HABIT = 8.0
"""The score of a stand-in that looks at nothing."""

read_score = partial(read_plain_rating, low=SCALE[0], high=SCALE[1])
"""Reads the score of a reply."""


def _answer_by_chance(row: Row, images: ImageStore) -> Mapping[str, Any]:
    return {"score": float(Random(row["image_id"]).randint(*SCALE)), "outcome": "scored"}


STAND_IN_ANSWERS: StandInAnswers = {
    "prior": lambda row, images: {"score": _HABIT, "outcome": "scored"},
    "random": _answer_by_chance,
}


class BiasAnswers(LimitedJudgeStep):
    """A judge's scores of each response on both sides; a limit is on items."""

    stand_in_answers = STAND_IN_ANSWERS
    item_columns, strata_columns, unit = ("item_id",), ("bias",), "items"
    inputs = single_input("mm_judge_bias/items", ITEMS)
    asset = StepAsset(
        key=asset_key("answers"),
        partitions_def=SETS.build_partitions,
        description="Scores of {model} for responses before and after a change, by {backend}.",
    )
    table = StepTable(columns=ANSWERS, key_columns=("image_id",))
    unparsed_check = ("side", "Read some of the table's responses: a score is from 1 to 10.")

    def list_rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """List both sides of the items that were taken."""
        return [
            {name: row[name] for name in _ITEM} | {"prompt_version": VERSION}
            for row in work.read_rows("upstream")
            if row["outcome"] == "taken"
        ]

    def query(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask for the score of a response on one side."""
        prompt = write_response_score_prompt(row["instruction"] or "", row["judged_response"])
        turn = Turn("user", prompt, (row["sha256"],) if row["sha256"] else ())
        return scored_columns((yield LookRequest((turn,))), read_score)
