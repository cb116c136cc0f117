"""Which size a painter's or editor's entry in models.yaml asks for, and pictures of another."""

import re
from collections.abc import Mapping
from typing import Any

_NEARLY = 0.9
"""How much of 1,024 px the longer side of a picture has at least that is to be of 1K (Gemini)."""


def asked_sides(parameters: Mapping[str, Any]) -> dict[str, int]:
    """The sides in px, "width" and "height", as far as the parameters name them."""
    size = re.fullmatch(r"(\d+)x(\d+)", str(parameters.get("size", "")))
    sides = {"width": parameters.get("width"), "height": parameters.get("height")}
    if size:
        sides = {"width": int(size[1]), "height": int(size[2])}
    return {side: px for side, px in sides.items() if isinstance(px, int)}


def wrong_size(width: int, height: int, parameters: Mapping[str, Any]) -> str | None:
    """In words, how a picture is not of the size that was asked for; None where it is."""
    got = {"width": width, "height": height}
    for side, px in asked_sides(parameters).items():
        if got[side] != px:
            return f"It is {width} × {height} px, and {px} px of {side} were asked for."
    config = parameters.get("image_config")
    image_size = re.fullmatch(r"(\d+)K", str(config.get("image_size"))) if config else None
    if image_size and max(width, height) < _NEARLY * 1024 * int(image_size[1]):
        return f"It is {width} × {height} px, and an image_size of {image_size[0]} was asked for."
    return None
