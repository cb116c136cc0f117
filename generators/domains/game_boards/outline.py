"""The row or column that a board has gained, or the place where it has lost one."""

from typing import cast

from generators.domains.game_boards.draw import _LINES, _MARGIN
from generators.scene import Scene

Box = tuple[float, float, float, float]


def outline(scene: Scene, size: int) -> list[Box]:
    """One band across the picture, in its parts.

    A gained line comes with the gap to its neighbour. A lost row or column is not in the picture:
    the band is as wide as the margin and lies beyond the board's edge, where it was.
    """
    action, along, end = scene.modification.split()
    rows, columns = (cast(int, scene.settings[name]) for name in ("rows", "columns"))
    lines = scene.target in _LINES
    down, across = (rows - 1, columns - 1) if lines else (rows, columns)
    pitch = int(size * (1 - 2 * _MARGIN)) // max(down, across)
    border = size - pitch * max(down, across)
    width, height = pitch * across + border, pitch * down + border
    pen = max(1, round(size / 384))
    ends = border // 2, border // 2 + pitch * (down if along == "row" else across)
    first = end == "first"
    if action == "add":
        at = ends[0] - pen if first else ends[1] - pitch + pen
        thick = pitch
    else:
        at = 0 if first else ends[1] + 3 * pen
        thick = ends[0] - 3 * pen
    if along == "row":
        return [(0.0, at / height, 1.0, thick / height)]
    return [(at / width, 0.0, thick / width, 1.0)]
