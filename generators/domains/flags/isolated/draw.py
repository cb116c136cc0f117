"""Draw the stars or the stripes of a flag alone.

The ground stays grey: white stars and outer stripes would vanish on white. Stripes run on where a
canton lay. A flag that is stripes and nothing else stays as it is.
"""

from dataclasses import replace
from xml.etree.ElementTree import Element

from generators.domains.flags import draw as flag_drawing
from generators.isolation import isolate_scenes, keep_parts
from generators.scene import Scene

VERSION = "1"
MIN_SIZE = flag_drawing.MIN_SIZE

_FEWEST_CORNERS = 10
"""Corners of a star with five points; crosses and triangles have fewer."""


def list_scenes(seed: int) -> list[Scene]:
    """The scenes of the benchmark; what is not counted is not there."""
    return [
        replace(
            scene,
            truths={
                target: count if target == scene.target else 0
                for target, count in scene.truths.items()
            },
        )
        for scene in isolate_scenes(flag_drawing.list_scenes(seed))
    ]


def draw(scene: Scene, size: int) -> str:
    """The SVG of the scene's stars or stripes, as large as that of its flag."""
    cloth_width = str(size - 2 * round(size / 24))

    def is_star(tag: str, part: Element) -> bool:
        return tag == "polygon" and len(part.get("points", "").split()) >= _FEWEST_CORNERS

    def is_stripe(tag: str, part: Element) -> bool:
        return tag == "rect" and part.get("width") == cloth_width

    is_counted = is_star if scene.target == "stars" else is_stripe
    return keep_parts(flag_drawing.draw(scene, size), is_counted, ground=flag_drawing.GROUND)
