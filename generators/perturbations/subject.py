"""Texts and object boxes that perturbations add to a picture."""

from dataclasses import dataclass, replace

_SLACK = 0.005
"""The share of the picture by which a box may reach over an edge, as rounded ones do."""


class Inapplicable(ValueError):
    """A perturbation cannot be made of this picture or subject; the message says why."""


class BadBox(ValueError):
    """A box that lies outside its picture, has no area or names no object."""


@dataclass(frozen=True, slots=True)
class ObjectBox:
    """An object's place: left, top, width and height in parts of the picture, and what it is."""

    left: float
    top: float
    width: float
    height: float
    label: str

    def __post_init__(self) -> None:
        if not self.label.strip():
            raise BadBox(f"Box at {self._format_place()}: it has no label. Name its object.")
        far_edges = (self.left + self.width, self.top + self.height)
        is_inside = all(start >= -_SLACK for start in (self.left, self.top))
        is_inside &= all(end <= 1 + _SLACK for end in far_edges)
        if not is_inside or not min(self.width, self.height) > 0:
            raise BadBox(
                f"Box of {self.label!r}: {self._format_place()} is not inside the picture. "
                "Give left, top, width and height in parts of its sides, 0 to 1."
            )

    def _format_place(self) -> str:
        return ", ".join(f"{side:g}" for side in (self.left, self.top, self.width, self.height))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Texts and boxes of a picture; a perturbation that needs a missing one is `Inapplicable`."""

    keyword: str = ""
    instruction: str = ""
    title: str = ""
    boxes: tuple[ObjectBox, ...] = ()

    def move_boxes(
        self, before: tuple[int, int], after: tuple[int, int], corner: tuple[int, int]
    ) -> "Subject":
        """The same, its boxes moved into a larger picture.

        Sizes are width and height in px, `corner` is where the smaller one's upper left is.
        """
        (width, height), (x, y) = before, corner
        after_width, after_height = after
        moved = (
            ObjectBox(
                left=(x + box.left * width) / after_width,
                top=(y + box.top * height) / after_height,
                width=box.width * width / after_width,
                height=box.height * height / after_height,
                label=box.label,
            )
            for box in self.boxes
        )
        return replace(self, boxes=tuple(moved))


EMPTY_SUBJECT = Subject()
"""A subject without title, texts and boxes."""
