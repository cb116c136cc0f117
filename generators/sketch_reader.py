"""Reading the schematics that `generators.sketch` draws back from their pixels.

Nothing here knows how they are drawn, nor the row that a picture stands in: a picture and a text
are all there is.
"""

from dataclasses import dataclass
from typing import Literal

from generators.reading import Unreadable

__all__ = ["Traits", "Unreadable", "fit", "read"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What is seen of the extra element beside the main entity.

    `side` is where the main entity is, seen from the extra element. Where there is none of it, the
    count is 0 and there is nothing else to tell: None.
    """

    count: int
    colour: str | None
    """A name of `generators.prompts.words.COLOURS`, "plain" for none of these, or "mixed"."""
    side: Literal["left", "right"] | None
    depth: Literal["background", "beside", "foreground"] | None
    size: Literal["small", "ordinary", "large"] | None


def read(png: bytes) -> Traits:
    """What the picture shows.

    Raises `Unreadable`, with the reason, for what is no schematic: a photograph, a blank picture,
    one of another size, or one in which no main entity stands, or two.
    """
    raise Unreadable("schematics cannot be read yet")


def fit(png: bytes, text: str) -> float:
    """The share of the traits that the text tells which the picture shows: 1.0 if it is all.

    The text tells a count ("a rock" is one), and a colour, a side, a depth or a size where it names
    one. Raises `Unreadable` as `read` does, and for a text in which no extra element is understood.
    """
    raise Unreadable("schematics cannot be read yet")
