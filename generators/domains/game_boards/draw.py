"""Game boards with one row or column too few or too many (VLMBias, Appendix G).

Chess counts squares, sudoku cells, xiangqi and go lines. A board is two ranges of numbers, its
rows and its columns, counted from the standard board's first: `range(1, 8)` has lost its first
row, `range(-1, 8)` has gained one before it. Whatever a line or a cell carries stays with it.
"""

from typing import NamedTuple, cast

from generators.canvas import create_canvas
from generators.domains.game_boards import _boards
from generators.scene import Scene

VERSION = "1"
MIN_SIZE = 256

_NAME = "game_boards"
MARGIN = 0.05


class _BoardKind(NamedTuple):
    subject: str
    rows: int
    columns: int
    targets: tuple[str, str]
    edges: tuple[str, ...] = ("first", "last")


_CELLS, LINE_TARGETS = ("rows", "columns"), ("horizontal lines", "vertical lines")
_KINDS = {
    "chess": _BoardKind(subject="Chessboard", rows=8, columns=8, targets=_CELLS),
    "xiangqi": _BoardKind(subject="Xiangqi board", rows=10, columns=9, targets=LINE_TARGETS),
    "sudoku": _BoardKind(subject="Sudoku puzzle", rows=9, columns=9, targets=_CELLS),
    "go": _BoardKind(
        subject="Go board", rows=19, columns=19, targets=LINE_TARGETS, edges=("last",)
    ),
}
_PAINTERS = {
    "chess": _boards.draw_chess,
    "xiangqi": _boards.draw_xiangqi,
    "sudoku": _boards.draw_sudoku,
    "go": _boards.draw_go,
}


def list_scenes(seed: int) -> list[Scene]:
    """The 28 counterfactuals, then the 4 originals. Boards have nothing for a seed to vary."""
    changed = [
        _build_counterfactual(subtopic, action, along, end)
        for subtopic, kind in _KINDS.items()
        for action in ("remove", "add")
        for along in ("row", "column")
        for end in kind.edges
    ]
    return changed + [_build_scene(subtopic) for subtopic in _KINDS]


def draw(scene: Scene, size: int) -> str:
    """The SVG of a board on a canvas that follows its shape, the longer side `size` px.

    Cells are square, of whole pixels; the four margins differ by a pixel at most.
    """
    first_row, rows, first_column, columns = (
        cast(int, scene.settings[name]) for name in ("first_row", "rows", "first_column", "columns")
    )
    down, across = (rows - 1, columns - 1) if scene.target in LINE_TARGETS else (rows, columns)
    pitch = int(size * (1 - 2 * MARGIN)) // max(down, across)
    border = size - pitch * max(down, across)
    drawing = create_canvas(
        pitch * across + border, pitch * down + border, _boards.GROUNDS[scene.subtopic]
    )
    grid = _boards.BoardGrid(
        rows=range(first_row, first_row + rows),
        columns=range(first_column, first_column + columns),
        origin_x=border // 2,
        origin_y=border // 2,
        pitch=pitch,
        line_width=2 * max(1, round(size / 384)),
    )
    _PAINTERS[scene.subtopic](drawing, grid)
    return str(drawing.tostring())


def _build_counterfactual(subtopic: str, action: str, along: str, end: str) -> Scene:
    kind = _KINDS[subtopic]
    rows, columns = range(kind.rows), range(kind.columns)
    if along == "row":
        rows = _resize_range(rows, action, end)
    else:
        columns = _resize_range(columns, action, end)
    return _build_scene(subtopic, rows, columns, change=(action, along, end))


def _resize_range(lines: range, action: str, end: str) -> range:
    change = 1 if action == "add" else -1
    if end == "first":
        return range(lines.start - change, lines.stop)
    return range(lines.start, lines.stop + change)


def _build_scene(
    subtopic: str,
    rows: range | None = None,
    columns: range | None = None,
    change: tuple[str, ...] = (),
) -> Scene:
    kind = _KINDS[subtopic]
    rows, columns = rows or range(kind.rows), columns or range(kind.columns)
    return Scene(
        base_id=f"{_NAME}/{'-'.join((subtopic, *change))}",
        original_id=f"{_NAME}/{subtopic}",
        domain=_NAME,
        subject=kind.subject,
        subtopic=subtopic,
        variant="counterfactual" if change else "original",
        modification=" ".join(change) or "none",
        target=kind.targets[1 if "column" in change else 0],
        truths=dict(zip(kind.targets, (len(rows), len(columns)), strict=True)),
        standards=dict(zip(kind.targets, (kind.rows, kind.columns), strict=True)),
        settings={
            "first_row": rows.start,
            "rows": len(rows),
            "first_column": columns.start,
            "columns": len(columns),
        },
        image_set="benchmark" if change else "originals",
    )
