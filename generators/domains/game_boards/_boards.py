"""The four kinds of board, each of any number of rows and columns."""

from dataclasses import dataclass

import svgwrite

from generators import glyphs
from generators import xiangqi as xiangqi_board

INK = "#000000"
GROUNDS = {
    "chess": "#ffffff",
    "xiangqi": xiangqi_board.GROUND,
    "sudoku": "#ffffff",
    "go": "#e6b968",
}

# The colours of python-chess.
_LIGHT, _DARK, _FRAME = "#ffce9e", "#d18b47", "#4a2f16"

# The puzzle that Wikipedia's article on sudoku shows; it has one solution.
_PUZZLE = (
    "53..7....",
    "6..195...",
    ".98....6.",
    "8...6...3",
    "4..8.3..1",
    "7...2...6",
    ".6....28.",
    "...419..5",
    "....8..79",
)
_STAR_LINES = (3, 9, 15)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardGrid:
    """The place and measures of a board, in whole px.

    `rows` and `columns` number what is counted (squares, cells or lines) from the first one of the
    standard board; `origin_x` and `origin_y` are the edge of the first cell or the middle of the
    first line. With an even `line_width` the edges of all lines fall on whole pixels.
    """

    rows: range
    columns: range
    origin_x: int
    origin_y: int
    pitch: int
    line_width: int

    def column_x(self, column: float) -> float:
        """The x of the column's line, or of its left edge."""
        return self.origin_x + (column - self.columns.start) * self.pitch

    def row_y(self, row: float) -> float:
        """The y of the row's line, or of its upper edge."""
        return self.origin_y + (row - self.rows.start) * self.pitch


def draw_chess(drawing: svgwrite.Drawing, grid: BoardGrid) -> None:
    """Squares of two colours, the one at row 0 and column 0 light, in a narrow frame."""
    side, frame = grid.pitch, grid.line_width
    width, height = len(grid.columns) * side, len(grid.rows) * side
    drawing.add(
        drawing.rect(
            (grid.origin_x - frame, grid.origin_y - frame),
            (width + 2 * frame, height + 2 * frame),
            fill=_FRAME,
        )
    )
    drawing.add(drawing.rect((grid.origin_x, grid.origin_y), (width, height), fill=_LIGHT))
    dark = [
        f"M{grid.column_x(column)} {grid.row_y(row)}h{side}v{side}h{-side}z"
        for row in grid.rows
        for column in grid.columns
        if (row + column) % 2
    ]
    drawing.add(drawing.path("".join(dark), fill=_DARK))


def draw_xiangqi(drawing: svgwrite.Drawing, grid: BoardGrid) -> None:
    """The lines of a xiangqi board with the names on its river."""
    xiangqi_board.draw_board(
        drawing,
        origin_x=grid.origin_x,
        origin_y=grid.origin_y,
        pitch=grid.pitch,
        line_width=grid.line_width,
        files=grid.columns,
        ranks=grid.rows,
    )


def draw_sudoku(drawing: svgwrite.Drawing, grid: BoardGrid) -> None:
    """Cells with the puzzle's digits; the outline and every third line from the first are bold."""
    rows, columns = grid.rows, grid.columns
    thin: list[str] = []
    bold: list[str] = []
    for row in range(rows.start, rows.stop + 1):
        weight = bold if row in (rows.start, rows.stop, 0, 3, 6, 9) else thin
        weight.append(_build_level_path(grid, row, columns.start, columns.stop))
    for column in range(columns.start, columns.stop + 1):
        weight = bold if column in (columns.start, columns.stop, 0, 3, 6, 9) else thin
        weight.append(_build_upright_path(grid, column, rows.start, rows.stop))
    _draw_lines(drawing, thin, grid.line_width)
    _draw_lines(drawing, bold, 2 * grid.line_width)
    digits = [
        glyphs.outline_text(
            digit, x=grid.column_x(column + 0.5), y=grid.row_y(row + 0.5), height=0.56 * grid.pitch
        )
        for row, digits in enumerate(_PUZZLE)
        for column, digit in enumerate(digits)
        if digit != "." and row in rows and column in columns
    ]
    if digits:
        drawing.add(drawing.path("".join(digits), fill=INK))


def draw_go(drawing: svgwrite.Drawing, grid: BoardGrid) -> None:
    """Lines with star points on the fourth, tenth and sixteenth of each direction."""
    rows, columns = grid.rows, grid.columns
    lines = [_build_level_path(grid, row, columns[0], columns[-1]) for row in rows]
    lines += [_build_upright_path(grid, column, rows[0], rows[-1]) for column in columns]
    _draw_lines(drawing, lines, grid.line_width)
    for row in _STAR_LINES:
        for column in _STAR_LINES:
            if row in rows and column in columns:
                centre = (grid.column_x(column), grid.row_y(row))
                drawing.add(drawing.circle(centre, 1.75 * grid.line_width, fill=INK))


def _build_level_path(grid: BoardGrid, row: int, begin: int, end: int) -> str:
    return f"M{grid.column_x(begin)} {grid.row_y(row)}H{grid.column_x(end)}"


def _build_upright_path(grid: BoardGrid, column: int, begin: int, end: int) -> str:
    return f"M{grid.column_x(column)} {grid.row_y(begin)}V{grid.row_y(end)}"


def _draw_lines(drawing: svgwrite.Drawing, lines: list[str], width: int) -> None:
    if lines:
        pen = {"fill": "none", "stroke": INK, "stroke_width": width, "stroke_linecap": "square"}
        drawing.add(drawing.path("".join(lines), **pen))
