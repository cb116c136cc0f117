"""Draw the lines of a board alone; of a chess board, the lines between its squares.

Its squares' colours tell a chess board's first row from its last, and the lines do not: boards that
have lost or gained either give one picture.
"""

from xml.etree.ElementTree import Element

from generators.domains.game_boards import draw as board_drawing
from generators.isolation import isolate_scenes, keep_parts
from generators.scene import Scene

VERSION = "1"
MIN_SIZE = board_drawing.MIN_SIZE


def list_scenes(seed: int) -> list[Scene]:
    """The scenes of the benchmark."""
    return isolate_scenes(board_drawing.list_scenes(seed))


def draw(scene: Scene, size: int) -> str:
    """The SVG of the scene's lines, as large as that of its board."""
    svg = board_drawing.draw(scene, size)
    if scene.subtopic == "chess":
        svg = svg.replace("</svg>", f"{_draw_chess_lines(scene, size)}</svg>")
    return keep_parts(svg, _is_line)


def _draw_chess_lines(scene: Scene, size: int) -> str:
    """The lines between a chess board's squares, and its outline, as the SVG of one path."""
    rows, columns = (int(scene.settings[name]) for name in ("rows", "columns"))
    pitch = int(size * (1 - 2 * board_drawing.MARGIN)) // max(rows, columns)
    origin = (size - pitch * max(rows, columns)) // 2
    right_x, bottom_y = origin + pitch * columns, origin + pitch * rows
    level = (f"M{origin} {origin + pitch * row}H{right_x}" for row in range(rows + 1))
    upright = (f"M{origin + pitch * column} {origin}V{bottom_y}" for column in range(columns + 1))
    return (
        f'<path d="{"".join((*level, *upright))}" fill="none" stroke="#000000" '
        f'stroke-width="{2 * max(1, round(size / 384))}" stroke-linecap="square" />'
    )


def _is_line(tag: str, part: Element) -> bool:
    """True for lines from edge to edge: diagonals and marks have no square ends."""
    return tag == "path" and part.get("stroke-linecap") == "square"
