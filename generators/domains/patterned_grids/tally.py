"""Tally marks: uprights in fours, the fifth stroke crossing them."""

from dataclasses import dataclass
from math import ceil, hypot

from generators.domains.patterned_grids.layout import build_rectangle_path


@dataclass(frozen=True, slots=True)
class TallyPen:
    """The measures of tally marks in px, for cells of `cell_side` px.

    Groups of five stand twice as far apart as the strokes of one group. The fifth stroke
    reaches `overhang` px past the uprights that it crosses.
    """

    cell_side: int
    width: int
    gap: int
    height: int

    @property
    def overhang(self) -> int:
        """The px by which the fifth stroke passes its first and last upright."""
        return self.width // 2

    def build_path(self, x: float, y: float, count: int) -> str:
        """The path of a tally of `count` in the middle of the cell with that upper left corner."""
        top = y + (self.cell_side - self.height) // 2
        first_x = x + (self.cell_side - _measure_span(count, self.width, self.gap)) // 2
        upright_xs = [first_x + offset for offset in _place_uprights(count, self.width, self.gap)]
        fifths = (
            self._build_fifth_path(upright_xs[4 * i], upright_xs[4 * i + 3], top)
            for i in range(count // 5)
        )
        return "".join(
            (
                *(
                    build_rectangle_path(upright_x, top, self.width, self.height)
                    for upright_x in upright_xs
                ),
                *fifths,
            )
        )

    def _build_fifth_path(self, first: float, last: float, top: float) -> str:
        """A rising stroke with upright ends, so that its overhang is whole pixels.

        The rasteriser samples quarters of a pixel: the thickness is a whole number of them.
        """
        start, end = first - self.overhang, last + self.width + self.overhang
        run, rise = end - start, self.height * 0.5
        thick = ceil(4 * self.width * hypot(run, rise) / run) / 4
        low = top + (self.height + rise - thick) / 2
        return f"M{start} {low}L{end} {low - rise}v{thick}L{start} {low + thick}z"


def fit_pen(inside: int, max_count: int) -> TallyPen:
    """The widest and then most widely spaced strokes at which a tally of `max_count` fits the cell.

    Gaps are one to two times as wide as strokes, and a stroke's width is left at either side.
    """

    def fits(width: int, gap: int) -> bool:
        return _measure_span(max_count, width, gap) + 2 * width <= inside

    width = max(width for width in range(1, inside // 14 + 1) if fits(width, width))
    gap = max(gap for gap in range(width, 2 * width + 1) if fits(width, gap))
    return TallyPen(cell_side=inside, width=width, gap=gap, height=round(inside * 0.62))


def _place_uprights(count: int, width: int, gap: int) -> list[int]:
    """The distance from the first upright's start to that of each."""
    group = 4 * width + 5 * gap
    standing = 4 * (count // 5) + count % 5
    return [i // 4 * group + i % 4 * (width + gap) for i in range(standing)]


def _measure_span(count: int, width: int, gap: int) -> int:
    return _place_uprights(count, width, gap)[-1] + width
