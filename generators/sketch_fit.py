"""Reading of one schematic against a text, in worker processes."""

from typing import NamedTuple

from generators.reading import Unreadable
from generators.sketch_reader import score_fit


class FitQuestion(NamedTuple):
    """A schematic, and the text whose traits it may show."""

    png: bytes
    text: str


class Fit(NamedTuple):
    """The share of the text's traits that the schematic shows, or why it cannot be read."""

    share: float | None
    reason: str | None = None


def read_fit(question: FitQuestion) -> Fit:
    """Read a schematic, as `generators.sketch_reader.score_fit` does."""
    try:
        return Fit(score_fit(*question))
    except Unreadable as why:
        return Fit(None, str(why))
