"""Scenes drawn isolated: what is counted alone, in its place, without what surrounds it."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from dataclasses import replace

from generators.scene import Scene

SUFFIX = ".isolated"
"""Ending of the name of a domain that draws another one's scenes isolated."""

_SVG = "{http://www.w3.org/2000/svg}"
ET.register_namespace("", _SVG.strip("{}"))
ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def isolate_scenes(scenes: Iterable[Scene]) -> list[Scene]:
    """The scenes of the benchmark, as scenes of the domain that draws them isolated."""
    return [
        replace(scene, domain=f"{scene.domain}{SUFFIX}")
        for scene in scenes
        if scene.image_set == "benchmark"
    ]


def keep_parts(
    svg: str, is_counted: Callable[[str, ET.Element], bool], *, ground: str = "#ffffff"
) -> str:
    """The SVG of a picture with what is counted alone, on a plain ground of its size.

    `is_counted` gets the tag and the element of each part that lies on the picture's ground.
    """
    picture = ET.fromstring(svg)
    paper, *parts = (part for part in picture if part.tag != f"{_SVG}defs")
    paper.set("fill", ground)
    for part in parts:
        if not is_counted(part.tag.removeprefix(_SVG), part):
            picture.remove(part)
    return ET.tostring(picture, encoding="unicode")
