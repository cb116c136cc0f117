"""Stand-in judges: what each answers to a case, by what is known of how the case was made.

- `gullible` says yes to everything: its accuracy is the share of cases whose answer is yes, and it
  is right in no pair.
- `prior` knows what is usually so, and looks at no picture.
- `random` tosses a coin for each request: right in half of the cases and a quarter of the pairs.
- `pixels` reads the picture that it is shown, of drawn domains alone. What it cannot read it does
  not answer.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from assets.kit.judging import StandInAnswers
from assets.kit.pictures import compute_missing
from assets.kit.step_run import Row, StepRun
from generators.domains import load_domains
from generators.fingerprint import fingerprint
from metrics.vhexpansion.symmetry import NEGATED, NO, YES
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import build_work_key

PIXELS = "pixels"


def add_readings(rows: Iterable[dict[str, Any]], work: StepRun[Any]) -> list[dict[str, Any]]:
    """The rows with `read`: what their pictures answer, and why not; each is read once for all."""
    rows = list(rows)
    from generators.picture_answers import PictureQuestion, read_answer  # noqa: PLC0415 - slow, seldom needed

    code = fingerprint("generators.picture_answers", "generators.survival")
    topic = load_domains().get(work.partition)
    work_keys = {
        (row["source_question"], row["sha256"]): build_work_key(
            "picture answers",
            code,
            topic and topic.fingerprint,
            row["source_question"],
            row["sha256"],
        )
        for row in rows
    }

    def build_question(question_and_digest: tuple[str, str]) -> PictureQuestion:
        question, digest = question_and_digest
        return PictureQuestion(work.partition, question, work.images.get(digest))

    readings = compute_missing(work_keys, build_question, read_answer, work.work_cache)
    return [row | {"read": readings[row["source_question"], row["sha256"]]} for row in rows]


def _answer_from_prior(row: Row, images: ImageStore) -> Mapping[str, Any]:
    if not row["familiar_answer"]:
        return _build_silence("The usual answer is unknown.")
    return _answer_form(row["familiar_answer"], row)


def _answer_at_random(row: Row, images: ImageStore) -> Mapping[str, Any]:
    terms = (row["sha256"] or "", row["question"], str(row["repeat"]))
    return _build_response((NO, YES)[sha256("/".join(terms).encode()).digest()[0] % 2])


def _answer_from_pixels(row: Row, images: ImageStore) -> Mapping[str, Any]:
    answer, reason = row["read"]
    return _answer_form(answer, row) if answer else _build_silence(reason)


def _answer_form(answer: str, row: Row) -> Mapping[str, Any]:
    """Answer a case as somebody would who gives `answer` to its source question."""
    holds = answer == (row["stated"] or "Yes")
    return _build_response(YES if holds != (row["form"] == NEGATED) else NO)


def _build_response(answer: str) -> Mapping[str, Any]:
    return {"response": f"{{{answer.title()}}}", "outcome": "answered"}


def _build_silence(reason: str) -> Mapping[str, Any]:
    return {"response": None, "outcome": "unparsed", "reason": reason}


STAND_IN_ANSWERS: StandInAnswers = {
    "gullible": lambda row, images: _build_response(YES),
    "prior": _answer_from_prior,
    "random": _answer_at_random,
    PIXELS: _answer_from_pixels,
}
