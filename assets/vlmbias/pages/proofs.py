"""Proofs of a picture's label, as pages name them."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Proof = Literal["pixels", "accepted", "unreviewed", "stand-in", "unproved"]


class Told(NamedTuple):
    """A proof in a few words, and in one sentence."""

    short: str
    sentence: str


PROOFS: Mapping[Proof, Told] = {
    "pixels": Told("Read back from the pixels", "Its label is read back from the pixels."),
    "accepted": Told("Accepted by a person", "Its label was accepted by a person."),
    "unreviewed": Told(
        "Unreviewed: nobody has confirmed the count",
        "Unreviewed: nobody has confirmed the count.",
    ),
    "stand-in": Told(
        "Stand-in: no model made it, no result",
        "Stand-in run: a stand-in took the place of a model when it was made, so that it is no "
        "result.",
    ),
    "unproved": Told("Not proved", "The pixels do not confirm its label."),
}
"""Proofs, the best first."""

APART: tuple[Proof, ...] = ("unreviewed", "stand-in")
"""The image sets that stand in rows of their own, for their labels are not proved."""


def find_proof(review: str, *, is_stand_in: bool, confirmed: bool) -> Proof:
    """The proof of a picture; `confirmed` is whether all its readings agree with its label.

    A stand-in run is one whatever people say of it.
    """
    if is_stand_in:
        return "stand-in"
    if review == "pixels":
        return "pixels" if confirmed else "unproved"
    return "accepted" if review == "accepted" else "unreviewed"


def rank(proof: Proof) -> int:
    """Its place among all: 0 for the best."""
    return list(PROOFS).index(proof)
