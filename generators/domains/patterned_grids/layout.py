"""The places of lines, cells and labels: whole pixels at every size."""

from dataclasses import dataclass

from generators.domains.patterned_grids.pattern import format_column_letter
from generators.glyphs import outline_text

UNIT = 384
"""The size in px at which the measures below are given; they grow with a picture's size."""
LINE, LABEL, LABEL_GAP, STRIP = 1, 9, 3, 22
DIGIT = 0.75
"""The width of a digit, in parts of its height."""


@dataclass(frozen=True, slots=True)
class GridLayout:
    """A grid of `cells` x `cells` in a square picture, in whole px.

    `pitch` is a cell with one of its lines; `origin_x` and `origin_y` are where the first lines
    begin. Labels are `label_height` high, row numbers up to `number_width` wide, both `label_gap`
    off the grid.
    """

    cells: int
    line: int
    pitch: int
    origin_x: int
    origin_y: int
    label_height: int
    number_width: int
    label_gap: int

    @property
    def cell_side(self) -> int:
        """The side of the white square in a cell."""
        return self.pitch - self.line

    def find_corner(self, row: int, column: int) -> tuple[int, int]:
        """The upper left corner of the white square in a cell, as x and y."""
        first_x, first_y = self.origin_x + self.line, self.origin_y + self.line
        return first_x + column * self.pitch, first_y + row * self.pitch

    def build_line_path(self) -> str:
        """The path of all grid lines."""
        extent = self.cells * self.pitch + self.line
        return "".join(
            build_rectangle_path(self.origin_x + i * self.pitch, self.origin_y, self.line, extent)
            + build_rectangle_path(self.origin_x, self.origin_y + i * self.pitch, extent, self.line)
            for i in range(self.cells + 1)
        )

    def build_label_path(self) -> str:
        """The path of the column letters above the grid and the row numbers to its left."""
        letter_y = self.origin_y - self.label_gap - self.label_height / 2
        number_x = self.origin_x - self.label_gap - self.number_width / 2
        middles = [(i + 0.5) * self.pitch + self.line / 2 for i in range(self.cells)]
        return "".join(
            outline_text(
                format_column_letter(i),
                x=self.origin_x + middle,
                y=letter_y,
                height=self.label_height,
            )
            + outline_text(
                str(i + 1), x=number_x, y=self.origin_y + middle, height=self.label_height
            )
            for i, middle in enumerate(middles)
        )


def fit_layout(cells: int, size: int) -> GridLayout:
    """The largest cells of whole pixels that leave room for the labels, centred with them."""
    line, label, gap, strip = (round(m * size / UNIT) for m in (LINE, LABEL, LABEL_GAP, STRIP))
    pitch = (size - line - strip) // cells
    number = round(label * DIGIT * len(str(cells)))
    spare = size - cells * pitch - line
    origin_x, origin_y = ((spare + block + gap) // 2 for block in (number, label))
    return GridLayout(
        cells=cells,
        line=line,
        pitch=pitch,
        origin_x=origin_x,
        origin_y=origin_y,
        label_height=label,
        number_width=number,
        label_gap=gap,
    )


def build_rectangle_path(x: float, y: float, width: float, height: float) -> str:
    """The path of a rectangle by its upper left corner."""
    return f"M{x} {y}h{width}v{height}h{-width}z"
