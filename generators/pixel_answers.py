"""Readings of any picture by code, whatever was done to its pixels.

A picture of a drawn domain is read by a question about it, as the domain's `ask` puts it; any other
is tried as a schematic of `generators.sketch`.
"""

import json
from dataclasses import asdict, dataclass

from generators.canvas import decode_png
from generators.domains import Domain, load_domains
from generators.reading import Inquiry, Unreadable
from generators.sketch_rereading import reread_traits as read_schematic
from generators.survival import reread_targets


@dataclass(frozen=True, slots=True)
class PixelQuery:
    """A PNG to be read, and what a user asks about it; empty for nothing."""

    png: bytes
    question: str = ""


def match_drawn_domain(question: str) -> tuple[Domain, Inquiry] | None:
    """The drawn domain that a question is of, and what it asks for; None where it is of none."""
    inquiries = (
        (drawn_domain, drawn_domain.ask_module.parse_question(question))
        for drawn_domain in load_domains().values()
    )
    return next(
        ((drawn_domain, inquiry) for drawn_domain, inquiry in inquiries if inquiry is not None),
        None,
    )


def describe_picture(sight: PixelQuery) -> str | None:
    """Describe what a picture shows, equal words for equal readings; None for nothing readable.

    That is the answer to a question of a drawn domain, and the traits of a schematic otherwise.
    """
    pixels, drawn_inquiry = decode_png(sight.png), match_drawn_domain(sight.question)
    try:
        if drawn_inquiry is None:
            return json.dumps(asdict(read_schematic(pixels)), sort_keys=True)
        domain, inquiry = drawn_inquiry
        return inquiry.answer(reread_targets(domain.name, pixels, inquiry.targets))
    except Unreadable:
        return None
