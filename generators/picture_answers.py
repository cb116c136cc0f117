"""Answers that code reads from a drawn picture, perturbed or not, to a question of its domain."""

from dataclasses import dataclass

from generators.canvas import decode_png
from generators.domains import load_domains
from generators.reading import Inquiry, Unreadable
from generators.survival import reread_targets


@dataclass(frozen=True, slots=True)
class PictureQuestion:
    """A question in its domain's words about a picture, a PNG."""

    domain: str
    question: str
    png: bytes


def find_inquiry(domain: str, question: str) -> Inquiry | None:
    """Find what a question wants measured; None where no code draws that domain, or reads it."""
    drawn_domain = load_domains().get(domain)
    return drawn_domain.ask_module.parse_question(question) if drawn_domain else None


def read_answer(shown: PictureQuestion) -> tuple[str, str]:
    """The answer that is read from the pixels, and why there is none; one of both is empty."""
    inquiry = find_inquiry(shown.domain, shown.question)
    if inquiry is None:
        return "", "No code reads this from pixels."
    try:
        readings = reread_targets(shown.domain, decode_png(shown.png), inquiry.targets)
    except Unreadable as error:
        return "", str(error)
    return inquiry.answer(readings), ""
