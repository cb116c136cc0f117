"""Where the lines, the cells and their labels are: whole pixels at every size."""

from dataclasses import dataclass

from generators.domains.patterned_grids.pattern import column_letter
from generators.glyphs import outline

UNIT = 384
"""The size in px at which the measures below are given; they grow with the size asked for."""
LINE, LABEL, LABEL_GAP, STRIP = 1, 10, 4, 22


@dataclass(frozen=True, slots=True)
class Layout:
    """A grid of `cells` x `cells` in a square picture, in whole px.

    `pitch` is a cell with one of its lines; `start` is where the first line begins, from the
    left and from the top.
    """

    cells: int
    line: int
    pitch: int
    start: int
    label: int
    label_gap: int

    @property
    def inside(self) -> int:
        """The side of the white square in a cell."""
        return self.pitch - self.line

    @property
    def extent(self) -> int:
        """The side of the grid from its first line to its last, both included."""
        return self.cells * self.pitch + self.line

    def corner(self, row: int, column: int) -> tuple[int, int]:
        """The upper left corner of the white square in a cell."""
        first = self.start + self.line
        return first + column * self.pitch, first + row * self.pitch

    def lines(self) -> str:
        """The path of all grid lines."""
        starts = [self.start + i * self.pitch for i in range(self.cells + 1)]
        return "".join(
            box(at, self.start, self.line, self.extent)
            + box(self.start, at, self.extent, self.line)
            for at in starts
        )

    def labels(self) -> str:
        """The path of the column letters above the grid and the row numbers to its left."""
        band = self.start - self.label_gap - self.label / 2
        middles = [self.start + (i + 0.5) * self.pitch + self.line / 2 for i in range(self.cells)]
        letters = (
            outline(column_letter(i), x=middle, y=band, height=self.label)
            for i, middle in enumerate(middles)
        )
        numbers = (
            outline(str(i + 1), x=band, y=middle, height=self.label)
            for i, middle in enumerate(middles)
        )
        return "".join((*letters, *numbers))


def layout(cells: int, size: int) -> Layout:
    """The largest cells of whole pixels that leave room for the labels, centred with them."""
    line, label, gap, strip = (round(m * size / UNIT) for m in (LINE, LABEL, LABEL_GAP, STRIP))
    pitch = (size - line - strip) // cells
    start = (size - cells * pitch - line + label + gap) // 2
    return Layout(cells, line, pitch, start, label, gap)


def box(x: float, y: float, width: float, height: float) -> str:
    """The path of a rectangle by its upper left corner."""
    return f"M{x} {y}h{width}v{height}h{-width}z"
