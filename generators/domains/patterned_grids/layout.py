"""Where the lines, the cells and their labels are: whole pixels at every size."""

from dataclasses import dataclass

from generators.domains.patterned_grids.pattern import column_letter
from generators.glyphs import outline

UNIT = 384
"""The size in px at which the measures below are given; they grow with the size asked for."""
LINE, LABEL, LABEL_GAP, STRIP = 1, 9, 3, 22
DIGIT = 0.75
"""How wide a digit is, in parts of its height."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A grid of `cells` x `cells` in a square picture, in whole px.

    `pitch` is a cell with one of its lines; `left` and `top` are where the first lines begin.
    Labels are `label` high, the row numbers up to `number` wide, and `label_gap` off the grid.
    """

    cells: int
    line: int
    pitch: int
    left: int
    top: int
    label: int
    number: int
    label_gap: int

    @property
    def inside(self) -> int:
        """The side of the white square in a cell."""
        return self.pitch - self.line

    def corner(self, row: int, column: int) -> tuple[int, int]:
        """The upper left corner of the white square in a cell, as x and y."""
        first_x, first_y = self.left + self.line, self.top + self.line
        return first_x + column * self.pitch, first_y + row * self.pitch

    def lines(self) -> str:
        """The path of all grid lines."""
        extent = self.cells * self.pitch + self.line
        return "".join(
            box(self.left + i * self.pitch, self.top, self.line, extent)
            + box(self.left, self.top + i * self.pitch, extent, self.line)
            for i in range(self.cells + 1)
        )

    def labels(self) -> str:
        """The path of the column letters above the grid and the row numbers to its left."""
        letter_y = self.top - self.label_gap - self.label / 2
        number_x = self.left - self.label_gap - self.number / 2
        middles = [(i + 0.5) * self.pitch + self.line / 2 for i in range(self.cells)]
        return "".join(
            outline(column_letter(i), x=self.left + middle, y=letter_y, height=self.label)
            + outline(str(i + 1), x=number_x, y=self.top + middle, height=self.label)
            for i, middle in enumerate(middles)
        )


def layout(cells: int, size: int) -> Layout:
    """The largest cells of whole pixels that leave room for the labels, centred with them."""
    line, label, gap, strip = (round(m * size / UNIT) for m in (LINE, LABEL, LABEL_GAP, STRIP))
    pitch = (size - line - strip) // cells
    number = round(label * DIGIT * len(str(cells)))
    spare = size - cells * pitch - line
    origin_x, origin_y = ((spare + block + gap) // 2 for block in (number, label))
    return Layout(cells, line, pitch, origin_x, origin_y, label, number, gap)


def box(x: float, y: float, width: float, height: float) -> str:
    """The path of a rectangle by its upper left corner."""
    return f"M{x} {y}h{width}v{height}h{-width}z"
