"""Which of a figure's shapes it compares."""

from collections.abc import Sequence
from math import dist

from generators.domains.optical_illusions.shapes import Disc, Shape, Stroke


def select_compared(subject: str, drawn: Sequence[Shape]) -> Sequence[Shape]:
    """The two discs or lines of a placed figure that its questions are about."""
    if subject == "Ebbinghaus":
        inner = [shape for shape in drawn if isinstance(shape, Disc)]
        level = [disc for disc in inner if abs(disc.centre[1] - inner[0].centre[1]) < 1]
        sizes = {
            id(disc): sum(other.diameter == disc.diameter for other in inner) for disc in level
        }
        return sorted(level, key=lambda disc: sizes[id(disc)])[:2]
    lines = [s for s in drawn if isinstance(s, Stroke) and len(s.points) == 2 and not s.closed]
    if subject == "Zöllner":
        lines.sort(key=lambda line: -dist(*line.points))
    return lines[:2]
