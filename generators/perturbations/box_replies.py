"""Boxes of objects in the replies of vision models and detectors.

Both are asked for JSON, sides in thousandths of the picture:

    {"boxes": [{"label": "dog", "box": [100, 250, 480, 900]}]}
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from generators.perturbations.subject import BadBox, ObjectBox

PARTS = 1000
"""The parts into which the sides of a picture are divided."""
_JSON_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class UnreadableBoxes(ValueError):
    """A reply from which no boxes can be read; the message says why."""


def write_boxes_prompt(keyword: str) -> str:
    """The prompt that asks a vision model for boxes; `keyword` is empty where none is known."""
    wanted_objects = f"each {keyword.lower()}" if keyword else "each main object"
    return (
        f"Find {wanted_objects} that this picture shows. Answer with JSON and nothing else, one "
        "entry for each, with its left, top, right and bottom edge in thousandths of the "
        'picture\'s width and height: {"boxes": [{"label": "<what it is>", "box": '
        '[<left>, <top>, <right>, <bottom>]}]}. Where there is none: {"boxes": []}.'
    )


def parse_box_reply(reply: str) -> tuple[ObjectBox, ...]:
    """The boxes that a reply states, none where it says so.

    Raises `UnreadableBoxes` for anything else, also where one box is impossible.
    """
    match = _JSON_OBJECT.search(reply)
    try:
        data = json.loads(match[0]) if match else None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, Mapping) or not isinstance(data.get("boxes"), list):
        raise UnreadableBoxes('Boxes: the reply holds no JSON with "boxes".')
    return tuple(_parse_box(number, stated) for number, stated in enumerate(data["boxes"], start=1))


def format_box_reply(boxes: Sequence[ObjectBox]) -> str:
    """The reply that states these boxes."""
    sides = [(b.left, b.top, b.left + b.width, b.top + b.height) for b in boxes]
    stated = [
        {"label": box.label, "box": [round(PARTS * side) for side in corners]}
        for box, corners in zip(boxes, sides, strict=True)
    ]
    return json.dumps({"boxes": stated})


def _parse_box(number: int, stated: Any) -> ObjectBox:
    sides = stated.get("box") if isinstance(stated, Mapping) else None
    if not isinstance(sides, list) or len(sides) != 4 or not all(map(_is_number, sides)):
        raise UnreadableBoxes(f"Boxes: box {number} has no four numbers under box.")
    try:
        left_share, top_share, right_share, bottom_share = (side / PARTS for side in sides)
        return ObjectBox(
            left=left_share,
            top=top_share,
            width=right_share - left_share,
            height=bottom_share - top_share,
            label=str(stated.get("label") or ""),
        )
    except (BadBox, OverflowError) as error:
        raise UnreadableBoxes(f"Boxes: box {number} cannot be. {error}") from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
