"""Knobs: the traits of an extra element of which one differs in the adversarial sentence."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise, permutations
from typing import Literal

from generators.prompts.vocabulary import COLOURS, NUMBERS

Knob = Literal["count", "color", "color_tone", "layout_relation", "spatial", "scale_size"]

COLOUR_KNOBS = ("color", "color_tone")
MAX_COUNT = 6
"""The highest count that is drawn; of more things painters lose count."""

VALUES: Mapping[str, tuple[str, ...]] = {
    "count": NUMBERS,
    "color": tuple(COLOURS),
    "color_tone": tuple(COLOURS),
    "layout_relation": ("left", "right"),
    "spatial": ("foreground", "background"),
    "scale_size": ("smaller", "larger", "small", "large"),
}
"""The values that a sentence can state of each knob.

The first two sizes are drawn, in comparison with the main entity: a picture does not show
whether a coaster is small. The last two may stand in concepts of a user's own.
"""

_ALIKE_COLOURS = frozenset(
    frozenset(pair)
    for near in (("red", "orange", "yellow"), ("red", "pink", "purple", "blue"))
    for pair in pairwise(near)
) | {
    frozenset(pair)
    for pair in (
        ("black", "gray"),
        ("black", "brown"),
        ("gray", "white"),
        ("brown", "orange"),
        ("brown", "red"),
        ("orange", "pink"),
    )
}
"""Colours that look alike in some light."""


def is_change(knob: str, shown: str, changed: str) -> bool:
    """True if two values of `VALUES` differ as they have to: a count by 1 or 2."""
    places = [VALUES[knob].index(value) for value in (shown, changed)]
    apart = abs(places[0] - places[1])
    if knob == "scale_size":
        return apart == 1 and max(places) != 2
    return 0 < apart <= 2 if knob == "count" else apart > 0


def list_changes(
    knob: str, colours: Sequence[str], most: int = MAX_COUNT, *, sized: bool = True
) -> tuple[tuple[str, str], ...]:
    """The value in the text and the one in the adversarial sentence, in all ways to draw them.

    `colours` are those that the extra element has by nature, of which those that look alike are not
    exchanged; `most` is how many of it there may be, and `sized` whether its size is told at all.
    """
    if knob in COLOUR_KNOBS:
        return _list_changes(knob, tuple(colours))
    if knob == "scale_size":
        return _list_changes(knob, VALUES[knob][: 2 * sized])
    return _list_changes(knob, VALUES[knob][:most])


@cache
def _list_changes(knob: str, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(
        pair
        for pair in permutations(values, 2)
        if is_change(knob, *pair) and frozenset(pair) not in _ALIKE_COLOURS
    )
