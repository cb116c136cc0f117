"""Judges' responses: stand-in judges answer here, and every response is read and scored."""

from collections.abc import Mapping
from typing import Any

from assets.kit.columns import TEXT, Columns
from assets.kit.judging import StandInAnswers
from assets.kit.step_run import Row
from assets.kit.token_counts import OUTPUT_TOKENS, THINKING_TOKENS
from assets.vlmbias.prompting import VARIANTS
from metrics import (
    ParsedAnswer,
    read_count,
    read_name,
    read_plain_count,
    read_plain_name,
    read_plain_yes_no,
    read_yes_no,
    score_answer,
)
from metrics.reply_parsing.plain_answers import VERSION
from resources.models.reference_judges import (
    PensiveJudge,
    PixelsJudge,
    PriorJudge,
    RandomJudge,
)
from resources.storage.image_store import ImageStore

READING_COLUMNS = Columns(
    plain_answer=(
        TEXT,
        "Answer read from curly brackets or plain words, beside the one that counts; else empty",
    ),
    reading_version=(TEXT, "Version of the rules for plain words; empty without a response"),
)


def first_prompt(row: Row) -> str:
    """Build the text of a judge's first turn, beside the image."""
    return f"{VARIANTS[row['prompting']].prefix}{row['question']}"


def _answer_informed(
    judge: PriorJudge | RandomJudge, row: Row, images: ImageStore
) -> dict[str, Any]:
    """Answer with the expected bias, or a guess around it."""
    request = first_prompt(row), images.get(row["shown_sha256"]), row["expected_bias"]
    return _build_response(row, judge.answer_informed(*request))


def _answer_from_pixels(row: Row, images: ImageStore) -> dict[str, Any]:
    """Answer from readings of the same bytes; read a picture with a title above it afresh."""
    judge = PixelsJudge(row["readings"])
    return _build_response(row, judge.answer(first_prompt(row), images.get(row["shown_sha256"])))


def _answer_after_thinking(row: Row, images: ImageStore) -> dict[str, Any]:
    """Answer at the effort of the judge's step, with the tokens that it takes."""
    judge = PensiveJudge(row["effort"])
    picture = images.get(row["shown_sha256"])
    facts = row["expected_bias"], row["ground_truth"]
    response = _build_response(row, judge.answer_informed(first_prompt(row), picture, *facts))
    return response | dict(zip((OUTPUT_TOKENS, THINKING_TOKENS), judge.tokens or (), strict=False))


def _build_response(row: Row, response: str) -> dict[str, Any]:
    """Build the response of a stand-in judge, which repeats itself when asked to double-check."""
    twice = VARIANTS[row["prompting"]].follow_up is not None
    return {"response": response, "first_response": response if twice else None}


STAND_IN_ANSWERS: StandInAnswers = {
    "prior": lambda row, images: _answer_informed(PriorJudge(), row, images),
    "random": lambda row, images: _answer_informed(RandomJudge(row["seed"]), row, images),
    "pixels": _answer_from_pixels,
    "pensive": _answer_after_thinking,
}


def score_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with `answer`, `outcome` and `score`.

    One without a `response` has its outcome already. One whose words decline to answer is refused
    by the model itself.
    """
    silent = row.get("response") is None
    parsed = ParsedAnswer(None, row["outcome"]) if silent else _read(row)
    declined = parsed.outcome == "refused" and not silent
    return {
        **row,
        **({"refusal": "model"} if declined else {}),
        "answer": parsed.answer,
        "outcome": parsed.outcome,
        "score": score_answer(parsed, row["ground_truth"]),
        **read_plainly(row),
    }


def read_plainly(row: Mapping[str, Any]) -> dict[str, Any]:
    """The second reading of a row's response, which ranks nothing."""
    response = row.get("response")
    if response is None:
        return {"plain_answer": None, "reading_version": None}
    if row["accepted"]:
        parsed = read_plain_name(response, list(row["accepted"]))
    else:
        parsed = (read_plain_yes_no if _asks_yes_no(row) else read_plain_count)(response)
    return {"plain_answer": parsed.answer, "reading_version": VERSION}


def _read(row: Mapping[str, Any]) -> ParsedAnswer:
    if row["accepted"]:
        return read_name(row["response"], list(row["accepted"]))
    return (read_yes_no if _asks_yes_no(row) else read_count)(row["response"])


def _asks_yes_no(row: Mapping[str, Any]) -> bool:
    return row["ground_truth"] in ("Yes", "No")
