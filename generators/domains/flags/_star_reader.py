"""Recognition of stars by their shape alone.

Seen from its centre, the ink of a star with n points repeats every n-th of a turn and in no other
rhythm: of its angular moments, those weighted with cos(k x angle) and sin(k x angle), the n-th is
large and those around it vanish. That holds for any n, size, colour and rotation, down to
stars of eight pixels, and for no disc, cross, crescent, triangle or piece of a Union Jack.
"""

from collections.abc import Iterator, Sequence
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.domains.flags._flag_reader import FlagPixels, Values, measure_coverage

FEWEST_POINTS, MOST_POINTS = 5, 14
HARMONICS = np.arange(1, 21)
"""The moments that are looked at: more than there are points, or a sun could pass for a star."""
SMALLEST = 4
"""Least width of a mark that can be recognised as a star."""
POINTEDNESS = 0.25
"""The least n-th moment of a star: one with six points has 0.43, a regular pentagon 0.18."""
EIGHT_NEIGHBOURS = np.ones((3, 3), np.bool_)
FAINTEST = 0.1
"""The least coverage that counts as a star's ink when distances are taken."""
IMPURITY = 0.4
"""The most that any other moment up to the 1.5n-th, where noise begins, may have of the n-th."""


class Star(NamedTuple):
    """A star in cells of the flag: its centre, and its extent across but for tips that fade.

    `ink` is its coverage, 0 to 1, and the offsets are where that lies in the flag.
    """

    points: int
    x: float
    y: float
    width: float
    ink: Values
    row_offset: int
    column_offset: int

    def matches_box(self, box: tuple[slice, ...]) -> bool:
        """True if a mark within that box is this star again, or its border or filling."""
        rows, columns = box
        right, down = (columns.start + columns.stop) / 2, (rows.start + rows.stop) / 2
        return hypot(right - self.x, down - self.y) < self.width / 2

    @property
    def ink_pixels(self) -> tuple[NDArray[np.complex128], Values]:
        """The pixels of its ink, as complex x + iy, and the share of each that it covers."""
        rows, columns = np.nonzero(self.ink > FAINTEST)
        return (self.column_offset + columns) + 1j * (self.row_offset + rows), self.ink[
            rows, columns
        ]


def read_stars(flag: FlagPixels) -> list[Star]:
    """Find the stars of the flag, each once even if it has a border in another colour.

    First what lies in one colour, whatever its own colours are (a bordered star), then what is
    of one colour, whatever it lies in (a star across two stripes).
    """
    stars: list[Star] = []
    for one_colour in (False, True):
        for colour in range(len(flag.palette)):
            stars += [*_find_stars(flag, colour, one_colour, known_stars=stars)]
    return stars


def measure_gap(first: Star, second: Star) -> float:
    """The least distance between the ink of two stars, to a fraction of a pixel."""
    (first_points, first_ink), (second_points, second_ink) = first.ink_pixels, second.ink_pixels
    between_centres = np.abs(np.subtract.outer(first_points, second_points))
    return float((between_centres + 1 - np.add.outer(first_ink, second_ink)).min())


def _find_stars(
    flag: FlagPixels, colour: int, one_colour: bool, known_stars: Sequence[Star]
) -> Iterator[Star]:
    marks, _ = ndimage.label((flag.labels == colour) == one_colour)
    for number, box in enumerate(ndimage.find_objects(marks), start=1):
        if not _may_hold_star(box, flag.labels.shape) or any(
            star.matches_box(box) for star in known_stars
        ):
            continue
        around = tuple(slice(side.start - 1, side.stop + 1) for side in box)
        mark = ndimage.binary_dilation(marks[around] == number, EIGHT_NEIGHBOURS)
        values, others = flag.values[:, *around][:, mark].T, np.delete(flag.palette, colour, 0)
        share = measure_coverage(values, flag.palette[colour], others)
        ink = np.zeros(mark.shape, np.float32)
        ink[mark] = share if one_colour else 1 - share
        y, x = ndimage.center_of_mass(ink)
        points = _count_points(ink, y, x)
        if points is not None:
            row_offset, column_offset = around[0].start, around[1].start
            width = min(ink.max(0).sum(), ink.max(1).sum())
            yield Star(
                points=points,
                x=column_offset + x,
                y=row_offset + y,
                width=float(width),
                ink=ink,
                row_offset=row_offset,
                column_offset=column_offset,
            )


def _may_hold_star(box: tuple[slice, ...], shape: tuple[int, ...]) -> bool:
    """True if a mark is about as wide as high, not tiny, and clear of the flag's edges."""
    short, long = sorted(side.stop - side.start for side in box)
    is_inside = all(s.start > 0 and s.stop < length for s, length in zip(box, shape, strict=True))
    return is_inside and short >= SMALLEST and long <= 1.5 * short


def _count_points(ink: Values, y: float, x: float) -> int | None:
    """Count the points of a star; None where the ink is none."""
    moments = _compute_moments(ink, y, x)
    points = int(moments.argmax()) + 1
    strongest = moments[points - 1]
    if not FEWEST_POINTS <= points <= MOST_POINTS or strongest < POINTEDNESS:
        return None
    others = HARMONICS[: (3 * points - 1) // 2] != points
    strongest_other = moments[: len(others)][others].max()
    return points if strongest_other < IMPURITY * strongest else None


def _compute_moments(ink: Values, y: float, x: float) -> NDArray[np.float64]:
    """Moments about a centre as shares of the 0th, weighted by squared distance."""
    rows, columns = np.nonzero(ink)
    dy, dx = rows - y, columns - x
    weights = ink[rows, columns] * (dy**2 + dx**2)
    turn = np.exp(1j * np.arctan2(dy, dx))
    turns = np.cumprod(np.broadcast_to(turn[:, None], (len(turn), len(HARMONICS))), axis=1)
    moments: NDArray[np.float64] = np.abs(weights @ turns) / weights.sum()
    return moments
