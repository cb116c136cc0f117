"""Figures of a scene's main entity: one for all persons, one for all animals, one for all things.

The label says what it is; the figure shows only where it is.
"""

import re
from collections.abc import Callable
from typing import Any

import svgwrite

from generators.tiles import create_sheet

INK = "#333333"
WIDTH, HEIGHT = 150, 202
"""The size in px of all figures, against which things beside them show their size."""

_FOOT, _MIDDLE = HEIGHT - 2, WIDTH / 2
_FILL = "#c9d6df"
_ANIMAL = re.compile(
    r"\b(?:animal|bird|insect|mammal|fish|penguin|ostrich|kiwi|shoebill|cassowary|flamingo|pelican"
    r"|toucan|robin|sparrow|platypus|echidna|bat|pangolin|armadillo|dolphin|dog|cat|horse|mosquito"
    r"|cockroach|mantis|jellyfish|octopus)\b"
)
_PERSON = re.compile(r"\b(?:person|people|man|woman)\b")


def classify_entity(name: str) -> str:
    """The kind of figure for an entity: person, animal or thing."""
    if _PERSON.search(name.lower()):
        return "person"
    return "animal" if _ANIMAL.search(name.lower()) else "thing"


def draw_entity(kind: str) -> svgwrite.Drawing:
    """A person, an animal or a thing on a sheet of `WIDTH` x `HEIGHT` px."""
    drawing = create_sheet(WIDTH, HEIGHT)
    group = drawing.g(fill=_FILL, stroke=INK, stroke_width=3, stroke_linejoin="round")
    _DRAWERS[kind](drawing, group)
    drawing.add(group)
    return drawing


def _draw_person(drawing: svgwrite.Drawing, group: Any) -> None:
    """Shoulders and a head, as on a sign."""
    left_x, right_x, shoulder = _MIDDLE - 58, _MIDDLE + 58, 70
    group.add(
        drawing.path(
            f"M {left_x} {_FOOT} V {shoulder + 40} Q {left_x} {shoulder} {left_x + 40} {shoulder}"
            f" H {right_x - 40} Q {right_x} {shoulder} {right_x} {shoulder + 40} V {_FOOT} Z"
        )
    )
    group.add(drawing.circle((_MIDDLE, 41), 39))


def _draw_animal(drawing: svgwrite.Drawing, group: Any) -> None:
    """A body and a head with an eye, of no particular species."""
    group.add(drawing.ellipse((_MIDDLE, _FOOT - 66), (71, 66)))
    group.add(drawing.circle((_MIDDLE + 22, 47), 45))
    group.add(drawing.circle((_MIDDLE + 38, 41), 4, fill=INK, stroke="none"))


def _draw_thing(drawing: svgwrite.Drawing, group: Any) -> None:
    """A box, seen a little from above."""
    left_x, right_x, top_y, deep = 16, 104, 36, 34
    group.add(drawing.rect((left_x, top_y), (right_x - left_x, _FOOT - top_y)))
    upper = [
        (left_x, top_y),
        (left_x + deep, top_y - deep),
        (right_x + deep, top_y - deep),
        (right_x, top_y),
    ]
    group.add(drawing.polygon(upper))
    side = [
        (right_x, top_y),
        (right_x + deep, top_y - deep),
        (right_x + deep, _FOOT - deep),
        (right_x, _FOOT),
    ]
    group.add(drawing.polygon(side))


_DRAWERS: dict[str, Callable[[svgwrite.Drawing, Any], None]] = {
    "person": _draw_person,
    "animal": _draw_animal,
    "thing": _draw_thing,
}
