"""The stars or stripes that are others than on the flag as it is."""

from collections import Counter
from typing import Any, cast

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.designs import FLAGS, FlagDesign
from generators.scene import Scene

Box = tuple[float, float, float, float]
_Edges = tuple[float, float, float, float]
_MAX_BOXES = 2
"""The most boxes that stay apart; more become one box around all."""


def find_outline(scene: Scene, size: int) -> list[Box]:
    """Around all that was added, moved or taken away, in parts of the picture."""
    counts = {name: int(count) for name, count in scene.settings.items() if name != "flag"}
    flag = FLAGS[str(scene.settings["flag"])]
    changed_shapes, usual_shapes = (
        _record_shapes(flag, star_counts, size) for star_counts in (counts, flag.standards)
    )
    changed_edges = [
        edges
        for edges, _ in (
            (changed_shapes - usual_shapes) + (usual_shapes - changed_shapes)
        ).elements()
    ]
    if len(changed_edges) > _MAX_BOXES:
        lefts, tops, rights, bottoms = zip(*changed_edges, strict=True)
        changed_edges = [(min(lefts), min(tops), max(rights), max(bottoms))]
    margin = round(size / 24)
    height = round((size - 2 * margin) * flag.height / flag.width) + 2 * margin
    return [
        (left_x / size, top_y / height, (right_x - left_x) / size, (bottom_y - top_y) / height)
        for left_x, top_y, right_x, bottom_y in changed_edges
    ]


def _record_shapes(flag: FlagDesign, counts: Any, size: int) -> Counter[tuple[_Edges, str]]:
    margin = round(size / 24)
    width = size - 2 * margin
    drawing = _ShapeRecorder()
    cloth = Cloth(
        drawing=cast(Any, drawing),
        corner=(margin, margin),
        extent=(width, round(width * flag.height / flag.width)),
        width=flag.width,
        height=flag.height,
    )
    flag.paint(cloth, **counts)
    return Counter(drawing.shapes)


class _ShapeRecorder:
    """A drawing that keeps only the edges and colours of the shapes painted on it.

    Emblems are left out: they only ever stand in a canton, which is there as a shape.
    """

    def __init__(self) -> None:
        self.shapes: list[tuple[_Edges, str]] = []

    def add(self, shape: tuple[_Edges, str] | None) -> None:
        if shape is not None:
            self.shapes.append(shape)

    def rect(self, corner: Any, size: Any, *, fill: str) -> tuple[_Edges, str]:
        return (corner[0], corner[1], corner[0] + size[0], corner[1] + size[1]), fill

    def polygon(self, points: Any, *, fill: str) -> tuple[_Edges, str]:
        across, down = zip(*points, strict=True)
        return (min(across), min(down), max(across), max(down)), fill

    def circle(self, middle: Any, radius: float, *, fill: str) -> tuple[_Edges, str]:
        x, y = middle
        return (x - radius, y - radius, x + radius, y + radius), fill

    def path(self, *_: Any, **__: Any) -> None:
        return None
