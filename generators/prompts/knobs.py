"""Knobs: the traits of an extra element of which one differs in the adversarial sentence."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations
from typing import Literal

from generators.prompts.words import COLOURS, NUMBERS

Knob = Literal["count", "color", "color_tone", "layout_relation", "spatial", "scale_size"]

COLOUR_KNOBS = ("color", "color_tone")
MOST = 6
"""The highest count that is drawn; of more things painters lose count."""

VALUES: Mapping[str, tuple[str, ...]] = {
    "count": NUMBERS,
    "color": tuple(COLOURS),
    "color_tone": tuple(COLOURS),
    "layout_relation": ("left", "right"),
    "spatial": ("foreground", "background"),
    "scale_size": ("small", "large"),
}
"""What a sentence can say of each knob."""


def is_change(knob: str, shown: str, changed: str) -> bool:
    """Whether two values of `VALUES` differ as they have to: a count by 1 or 2."""
    apart = abs(VALUES[knob].index(shown) - VALUES[knob].index(changed))
    return 0 < apart <= 2 if knob == "count" else apart > 0


def changes(knob: str, colours: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The value in the text and the one in the adversarial sentence, in all ways to draw them.

    `colours` are those that the extra element has by nature; other knobs do without them.
    """
    return _changes(knob, tuple(colours) if knob in COLOUR_KNOBS else VALUES[knob][:MOST])


@cache
def _changes(knob: str, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in permutations(values, 2) if is_change(knob, *pair))
