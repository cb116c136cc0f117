"""What a drawn picture, perturbed or not, answers to a question of its domain."""

from dataclasses import dataclass

from generators.canvas import pixels_of
from generators.domains import domains
from generators.reading import Inquiry, Unreadable
from generators.survival import read_again


@dataclass(frozen=True, slots=True)
class Shown:
    """A question in its domain's words about a picture, a PNG."""

    domain: str
    question: str
    png: bytes


def inquiry_of(domain: str, question: str) -> Inquiry | None:
    """What a question wants measured; None where no code draws that domain, or it asks for less."""
    drawn_domain = domains().get(domain)
    return drawn_domain.asking.understand(question) if drawn_domain else None


def answer_in(shown: Shown) -> tuple[str, str]:
    """The answer that is read from the pixels, and why there is none; one of both is empty."""
    inquiry = inquiry_of(shown.domain, shown.question)
    if inquiry is None:
        return "", "No code reads this from pixels."
    try:
        readings = read_again(shown.domain, pixels_of(shown.png), inquiry.targets)
    except Unreadable as error:
        return "", str(error)
    return inquiry.answer(readings), ""
