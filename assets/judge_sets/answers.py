"""A judge's preference between two responses, in both orders."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pandas as pd

from assets.judge_sets.common import SETS, asset_key
from assets.judge_sets.pair_checks import split_content
from assets.judge_sets.pairs import PAIRS
from assets.kit.columns import REAL, TEXT, Columns
from assets.kit.judging import REPLY_COLUMNS, LimitedJudgeStep, StandInAnswers, scored_columns
from assets.kit.limits import LimitConfig
from assets.kit.step import Conversation, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun, single_input
from generators.prompts.response_pairs import (
    PICTURE_MARK,
    PICTURES_VERSION,
    VERSION,
    write_picture_pair_prompt,
    write_response_pair_prompt,
)
from metrics import read_pick
from metrics.judge_sets.agreement import ORDERS
from resources.models.requests import LookRequest, Turn
from resources.storage.image_store import ImageStore

_PAIR = PAIRS.subset(
    *("image_id", "set", "domain", "sha256", "prompt_id", "pictures"),
    *("question", "response_a", "response_b", "preferred"),
)
ANSWERS = Columns(
    **_PAIR,
    order=(TEXT, "Place of response a: first or second"),
    model=(TEXT, "The judge, as models.yaml names it"),
    prompt_version=(TEXT, "Version of the prompt"),
    score=(REAL, "1 where the first shown is preferred, 0.5 for a tie, 0 for the second"),
    agrees=(REAL, "1 where people prefer it as well, 0.5 for a tie, 0 where not; empty for none"),
    **REPLY_COLUMNS,
)


def _answer_by_length(row: Row, images: ImageStore) -> Mapping[str, Any]:
    """Prefer the longer response."""
    first, second = (len(text) for text, _ in _order_responses(row))
    return _build_reply(0.5 if first == second else float(first > second))


def _answer_by_chance(row: Row, images: ImageStore) -> Mapping[str, Any]:
    return _build_reply(float(Random(f"{row['image_id']}/{row['order']}").random() < 0.5))


def _build_reply(preference: float) -> Mapping[str, Any]:
    return {"score": preference, "outcome": "scored"}


STAND_IN_ANSWERS: StandInAnswers = {"prior": _answer_by_length, "random": _answer_by_chance}


def _order_responses(row: Row) -> list[tuple[str, tuple[str, ...]]]:
    """Text and pictures of both responses, as they are shown."""
    responses = split_content(row)[1:]
    return responses if row["order"] == "first" else responses[::-1]


def _write_turn(row: Row) -> Turn:
    """The question with its pictures, then the responses with theirs."""
    parts = [split_content(row)[0], *_order_responses(row)]
    question, *responses = (text for text, _ in parts)
    write = write_picture_pair_prompt if _has_marks(row) else write_response_pair_prompt
    digests = tuple(digest for _, part in parts for digest in part)
    return Turn("user", write(question, responses), digests)


def _has_marks(row: Row) -> bool:
    """Whether the texts mark the places of pictures."""
    return any(PICTURE_MARK in row[name] for name in ("question", "response_a", "response_b"))


class PairAnswers(LimitedJudgeStep):
    """A judge's preferences about pairs in both orders; a limit is on pairs."""

    stand_in_answers = STAND_IN_ANSWERS
    item_columns, unit, strata_columns = ("image_id",), "pairs", ("domain",)
    inputs = single_input("judge_sets/pairs", PAIRS)
    asset = StepAsset(
        key=asset_key("answers"),
        partitions_def=SETS.build_partitions,
        description="Preferences of {model} between two responses, asked through {backend}.",
    )
    table = StepTable(columns=ANSWERS, key_columns=("image_id", "order"))
    unparsed_check = ("domain", "Read some of the table's responses.")

    def list_rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """All pairs that were taken, in both orders."""
        pairs = [
            {name: row[name] for name in _PAIR}
            | {"prompt_version": PICTURES_VERSION if _has_marks(row) else VERSION}
            for row in work.read_rows("upstream")
            if row["outcome"] == "taken"
        ]
        return [pair | {"order": order} for pair in pairs for order in ORDERS]

    def query(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask about one pair in one order."""
        return scored_columns((yield LookRequest((_write_turn(row),))), read_pick)

    def finish(
        self, work: StepRun[LimitConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Compare the preferences with people's."""
        return [row | {"agrees": _compare(row)} for row in rows]


def select_taken(pairs: pd.DataFrame) -> pd.DataFrame:
    """Select the pairs that judges are asked about."""
    return pairs[pairs["outcome"].eq("taken")]


def _compare(row: Row) -> float | None:
    preference: float | None = row.get("score")
    is_first = (row["preferred"] == "a") == (row["order"] == "first")
    return preference if preference is None or is_first else 1 - preference
