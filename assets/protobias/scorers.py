"""Scorers: metrics and judges, their prompts, and how replies are read."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from assets.kit.conversations import unanswered_columns
from assets.kit.judging import select_judges
from assets.kit.step_run import Row
from generators.prompts.rating_prompts import JUDGE_SCALE, write_rating_prompt
from generators.sketch_fit import Fit
from metrics.protobias.normalization import JUDGE, OWN, STAND_IN
from metrics.reply_parsing.ratings import read_rating
from resources.models.catalog import Catalog, Model
from resources.models.formulas import OWN_BACKENDS
from resources.models.outcomes import AnsweredOutcome, MalformedOutcome, Outcome
from resources.models.requests import LookRequest, ScoreRequest, Turn
from resources.storage.image_store import ImageStore

ScoreColumns: TypeAlias = dict[str, Any]
"""Columns `outcome`, `refusal`, `raw`, `response`, `reason` and `served_model`."""


def list_scorers(catalog: Catalog) -> tuple[Model, ...]:
    """The models that score pictures against texts: judges and metrics, in the catalog's order."""
    judges = select_judges(catalog, STAND_IN_ANSWERS)
    return tuple(model for model in catalog.models if model in judges or "metric" in model.roles)


def formula_name(model: Model) -> str:
    """Return the kind of a model's raw score, as `metrics.protobias.normalization` takes it."""
    if model.is_stand_in:
        return STAND_IN
    if model.backend in OWN_BACKENDS:
        return OWN
    return str(model.parameters["formula"]) if "metric" in model.roles else JUDGE


def is_filed(model: Model) -> bool:
    """Return whether a metric's scores come from a file, which needs no requests."""
    return model.backend == "file"


def build_request(model: Model, text: str, digest: str) -> LookRequest | ScoreRequest:
    """Build the request for a score: a metric's, or a judge's in the words of Table 6."""
    if "metric" in model.roles:
        return ScoreRequest(text, digest)
    return LookRequest((Turn("user", write_rating_prompt(text), (digest,)),))


def parse_outcome(outcome: Outcome) -> ScoreColumns:
    """Parse the outcome of a scoring request; a missing score has a reason, never a low score."""
    match outcome:
        case AnsweredOutcome(score=score, text=text, served_model=served_model):
            columns = (
                _build_score_columns(score) if score is not None else _parse_rating(text or "")
            )
            return columns | {"response": text, "served_model": served_model}
        case MalformedOutcome(is_unreadable=False, text=text):
            why = {"reason": "It did not answer with one number from 0 to 1."}
            return unanswered_columns(outcome, "unparsed") | why | {"response": text}
    return unanswered_columns(outcome, "unparsed")


def _parse_rating(reply: str) -> ScoreColumns:
    rating = read_rating(reply, *JUDGE_SCALE)
    ending = {"outcome": rating.outcome, "raw": rating.score, "reason": rating.reason}
    return ending | ({"refusal": "model"} if rating.outcome == "refused" else {})


def _score_pixels(row: Row, images: ImageStore) -> ScoreColumns:
    fit: Fit = row["fit"]
    if fit.share is None:
        return {"outcome": "unparsed", "reason": fit.reason}
    return _build_score_columns(fit.share)


def _score_prototype(row: Row, images: ImageStore) -> ScoreColumns:
    return _build_score_columns(float(row["side"] == "adversarial"))


def _guess_score(row: Row, images: ImageStore) -> ScoreColumns:
    lot = sha256(f"{row['sha256']}/{row['text']}".encode()).digest()[:8]
    return _build_score_columns(int.from_bytes(lot, "big") / 2**64)


def _build_score_columns(score: float) -> ScoreColumns:
    return {"outcome": "scored", "raw": score}


STAND_IN_ANSWERS: Mapping[str, Callable[[Row, ImageStore], ScoreColumns]] = {
    "pixels": _score_pixels,
    "prior": _score_prototype,
    "random": _guess_score,
}
"""The stand-in judges, by model: one goes by the `fit` that was read in a schematic, one is told
which side is the prototype, one guesses, the same for the same picture and text."""
