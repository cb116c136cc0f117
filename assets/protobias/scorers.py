"""Scorers: metrics and judges, their prompts, and how replies are read."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from assets.kit.conversations import unanswered
from assets.kit.judging import judges_of
from assets.kit.step import Row
from generators.prompts.rating_prompts import JUDGE_SCALE, judge_prompt
from generators.reading import Unreadable
from generators.sketch_reader import fit
from metrics.normalization import JUDGE, OWN, REFERENCE
from metrics.ratings import read_rating
from resources.images import ImageStore
from resources.models.catalog import Catalog, Model
from resources.models.formulas import OWN as OWN_BACKENDS
from resources.models.outcomes import Answered, Malformed, Outcome
from resources.models.requests import Look, Score, Turn

ScoreColumns: TypeAlias = dict[str, Any]
"""How it ended: the columns `outcome`, `refusal`, `raw`, `response`, `reason`, `served_model`."""


def scorers(catalog: Catalog) -> tuple[Model, ...]:
    """The models that score pictures against texts: judges and metrics, in the catalog's order."""
    judges = judges_of(catalog, REFERENCES)
    return tuple(each for each in catalog.models if each in judges or "metric" in each.roles)


def formula_of(model: Model) -> str:
    """What a model's raw score is, as `metrics.normalization` takes it."""
    if model.rehearses:
        return REFERENCE
    if model.backend in OWN_BACKENDS:
        return OWN
    return str(model.parameters["formula"]) if "metric" in model.roles else JUDGE


def is_filed(model: Model) -> bool:
    """Whether a metric's scores come from a file, so that nothing is asked."""
    return model.backend == "file"


def to_score(model: Model, text: str, digest: str) -> Look | Score:
    """What a model is asked: a metric to score, a judge in the words of Table 6."""
    if "metric" in model.roles:
        return Score(text, digest)
    return Look((Turn("user", judge_prompt(text), (digest,)),))


def ended(outcome: Outcome) -> ScoreColumns:
    """How a request to score ended; without a score there is a reason, and never a low score."""
    match outcome:
        case Answered(score=score, text=text, served_model=served_model):
            found = _given(score) if score is not None else _rated(text or "")
            return found | {"response": text, "served_model": served_model}
        case Malformed(unreadable=False, text=text):
            why = {"reason": "It did not answer with one number from 0 to 1."}
            return unanswered(outcome, "unparsed") | why | {"response": text}
    return unanswered(outcome, "unparsed")


def _rated(reply: str) -> ScoreColumns:
    rating = read_rating(reply, *JUDGE_SCALE)
    ending = {"outcome": rating.outcome, "raw": rating.score, "reason": rating.reason}
    return ending | ({"refusal": "model"} if rating.outcome == "refused" else {})


def _reads(row: Row, images: ImageStore) -> ScoreColumns:
    try:
        return _given(fit(images.get(row["sha256"]), row["text"]))
    except Unreadable as why:
        return {"outcome": "unparsed", "reason": str(why)}


def _prefers_the_prototype(row: Row, images: ImageStore) -> ScoreColumns:
    return _given(float(row["side"] == "adversarial"))


def _guesses(row: Row, images: ImageStore) -> ScoreColumns:
    lot = sha256(f"{row['sha256']}/{row['text']}".encode()).digest()[:8]
    return _given(int.from_bytes(lot, "big") / 2**64)


def _given(score: float) -> ScoreColumns:
    return {"outcome": "scored", "raw": score}


REFERENCES: Mapping[str, Callable[[Row, ImageStore], ScoreColumns]] = {
    "pixels": _reads,
    "prior": _prefers_the_prototype,
    "random": _guesses,
}
"""The reference judges, by model: one reads schematics, one is told which side is the prototype,
one guesses, the same for the same picture and text."""
