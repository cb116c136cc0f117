"""Stand-in models, captioners and evaluators in one, of which everything is known.

Each writes captions of one quality, and scores by how good the caption's writer is:

    leniency + scale · quality + what it adds to its own + noise

So the report has to find that `vain` gives its own captions `SELF_PREFERENCE` points more than
others would, and nothing for the others. The noise of a score is of its own, by a hash. A caption
that people have scored is as good as they say. Captions of real models they do not score: these
have no known quality.
"""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from assets.kit.judging import StandInAnswers
from assets.kit.step_run import Row
from generators.prompts.captioning import SCALE
from resources.storage.image_store import ImageStore

SELF_PREFERENCE = 12
"""Points that `vain` adds to its own captions."""
_NOISE = 8
"""Points that a score may be off, at most, either way."""

_NOISE_SEED = "2"
"""Seed of the noise. One in twenty 95 % intervals misses the truth; of these ten none does."""


class ReferenceTraits(NamedTuple):
    """Traits of a stand-in model."""

    quality: float
    """Quality of its captions, 0 to 100."""
    leniency: float
    scale: float
    self_preference: float = 0


REFERENCE_TRAITS: Mapping[str, ReferenceTraits] = {
    "vain": ReferenceTraits(quality=50, leniency=0, scale=1, self_preference=SELF_PREFERENCE),
    "strict": ReferenceTraits(quality=70, leniency=-20, scale=1),
    "generous": ReferenceTraits(quality=40, leniency=40, scale=0.5),
    "steep": ReferenceTraits(quality=60, leniency=-20, scale=1.5),
    "plain": ReferenceTraits(quality=55, leniency=5, scale=0.9),
}


def _caption(name: str, row: Row, images: ImageStore) -> Mapping[str, Any]:
    """The words say who wrote them, so that no two captions of a picture are alike."""
    subject = row["references"][0] if row["references"] else row["image_id"]
    return {"response": f"As {name} sees it: {subject}", "outcome": "answered"}


def _score(name: str, row: Row, images: ImageStore) -> Mapping[str, Any]:
    character, writer = REFERENCE_TRAITS[name], row["generator_model"]
    if row["human_score"] is not None:
        low, high = row["scale_low"], row["scale_high"]
        quality = 100 * (row["human_score"] - low) / (high - low)
    elif writer in REFERENCE_TRAITS:
        quality = REFERENCE_TRAITS[writer].quality
    else:
        why = f"{name} knows how good captions of stand-in models are, and of no other."
        return {"score": None, "outcome": "unparsed", "reason": why}
    score = character.leniency + character.scale * quality
    score += (character.self_preference if writer == name else 0) + _noise(name, row)
    least, most = SCALE
    return {"score": float(min(most, max(least, round(score)))), "outcome": "scored"}


def _noise(name: str, row: Row) -> float:
    """Return noise from -8 to 8, uniformly distributed; equal requests have equal noise."""
    request_text = "/".join((_NOISE_SEED, name, row["setting"], row["sha256"], row["caption"]))
    lot = int.from_bytes(sha256(request_text.encode()).digest()[:8]) / 2**64
    return _NOISE * (2 * lot - 1)


CAPTIONERS: StandInAnswers = {name: partial(_caption, name) for name in REFERENCE_TRAITS}
EVALUATORS: StandInAnswers = {name: partial(_score, name) for name in REFERENCE_TRAITS}
