"""The row or column that a board has gained, or the place where it has lost one."""

from typing import cast

from generators.domains.game_boards.draw import LINE_TARGETS, MARGIN
from generators.scene import Scene

Box = tuple[float, float, float, float]


def find_outline(scene: Scene, size: int) -> list[Box]:
    """Outline one band across the picture, in fractions of it.

    A gained line comes with the gap to its neighbour. A lost row or column is not in the picture:
    the band is as wide as the margin and lies beyond the board's edge, where it was.
    """
    action, along, end = scene.modification.split()
    rows, columns = (cast(int, scene.settings[name]) for name in ("rows", "columns"))
    has_lines = scene.target in LINE_TARGETS
    down, across = (rows - 1, columns - 1) if has_lines else (rows, columns)
    pitch = int(size * (1 - 2 * MARGIN)) // max(down, across)
    border = size - pitch * max(down, across)
    width, height = pitch * across + border, pitch * down + border
    pen = max(1, round(size / 384))
    edges = border // 2, border // 2 + pitch * (down if along == "row" else across)
    is_first = end == "first"
    if action == "add":
        band_start = edges[0] - pen if is_first else edges[1] - pitch + pen
        band_width = pitch
    else:
        band_start = 0 if is_first else edges[1] + 3 * pen
        band_width = edges[0] - 3 * pen
    if along == "row":
        return [(0.0, band_start / height, 1.0, band_width / height)]
    return [(band_start / width, 0.0, band_width / width, 1.0)]
