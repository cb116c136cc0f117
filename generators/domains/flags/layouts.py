"""Layouts of any number of stars or stripes, as a designer would place them.

Points are (x, y) with y downwards, angles are degrees clockwise from the top, and all lengths
are in the units of whoever calls.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import cos, dist, hypot, inf, pi, radians, sin

Point = tuple[float, float]


def find_circle_point(centre: Point, radius: float, angle: float) -> Point:
    """The point at `angle` on a circle."""
    return centre[0] + radius * sin(radians(angle)), centre[1] - radius * cos(radians(angle))


def compute_ring_angles(count: int, *, first: float = 0.0) -> list[float]:
    """Angles of `count` stars evenly spaced round a circle, one of them at `first`."""
    return [first + 360 * k / count for k in range(count)]


def compute_resting_ring_angles(count: int) -> list[float]:
    """Angles of a ring that stands on a pair of stars, as a regular polygon stands on a side."""
    return compute_ring_angles(count, first=0 if count % 2 else 180 / count)


def compute_arc_angles(count: int, *, half: float, middle: float = 0.0) -> list[float]:
    """Angles of `count` stars evenly spaced from `middle` - `half` to `middle` + `half`."""
    if count == 1:
        return [middle]
    return [middle - half + 2 * half * k / (count - 1) for k in range(count)]


def place_pips(count: int, *, half_width: float, half_height: float) -> list[Point]:
    """Offsets of 4, 5 or 6 stars laid out as the pips of a die: two rows, an odd one between."""
    columns = [-half_width, half_width] if count < 6 else [-half_width, 0.0, half_width]
    corners = [(x, y) for y in (-half_height, half_height) for x in columns]
    return [*corners, (0.0, 0.0)] if count == 5 else corners


def place_star_field(count: int, width: float, height: float) -> list[Point]:
    """Places of `count` stars in staggered rows that fill a field.

    Rows are either of one length or alternate between two that differ by one star, and there
    are as nearly as can be as many of them as there are stars in the longest. So it is in the
    flags of the United States and the proposals for them: 49 gives seven sevens, 50 gives
    6-5-6-5-6-5-6-5-6 and 51 gives 9-8-9-8-9-8.
    """

    def imbalance(rows: Sequence[int]) -> tuple[float, float]:
        sides = max(rows), len(rows)
        return max(sides) / min(sides), -find_min_distance(_place_staggered(rows, width, height))

    return _place_staggered(min(_list_row_splits(count), key=imbalance), width, height)


def _list_row_splits(count: int) -> Iterator[list[int]]:
    for rows in range(1, count + 1):
        short, longer = divmod(count, rows)
        if longer == 0:
            yield [short] * rows
        elif longer == (rows + 1) // 2:
            yield [short + (row + 1) % 2 for row in range(rows)]
        elif longer == rows // 2:
            yield [short + row % 2 for row in range(rows)]


def _place_staggered(rows: Sequence[int], width: float, height: float) -> list[Point]:
    """Stars on every second place of a lattice, each row half a step aside from the one above.

    The margins are a step of the lattice; those at the sides are widened where steps to the
    side are shorter than those down, so that the stars do not crowd to the edge.
    """
    longest = max(rows)
    equal = len(rows) > 1 and min(rows) == longest
    steps = 2 * longest - 2 + equal
    across, down = width / (steps + 2), height / (len(rows) + 1)
    margin = max(across, (across + down) / 2) if steps else width / 2
    return [
        (margin + (width - 2 * margin) * place / max(steps, 1), down * (row + 1))
        for row, stars in enumerate(rows)
        for place in range(row % 2 if equal else longest - stars, steps + 1, 2)
    ]


def find_min_distance(points: Sequence[Point]) -> float:
    """The distance between the two nearest of the points, infinite for a single one."""
    pairs = ((a, b) for k, a in enumerate(points) for b in points[:k])
    return min((dist(a, b) for a, b in pairs), default=inf)


def compute_boundaries(widths: Sequence[float], length: float) -> list[float]:
    """The edges of stripes with these relative widths across `length`, from 0 to `length`."""
    return [length * part / sum(widths) for part in accumulate(widths, initial=0)]


def count_canton_stripes(share: float, count: int, colours: tuple[str, str], canton: str) -> int:
    """Count the stripes, of `count` equal ones, that a canton of `share` of the height spans.

    Its lower edge meets the nearest boundary that can be seen: one below which the stripe is
    not of the canton's own colour.
    """
    visible_edges = [k for k in range(1, count) if colours[k % 2] != canton]
    return min(visible_edges, key=lambda k: abs(k / count - share))


def outline_diagonal(width: float, height: float, breadth: float) -> list[Point]:
    """The outline of a band of that breadth from the upper left to the lower right corner."""
    across = breadth / 2 * hypot(width, height) / height
    down = breadth / 2 * hypot(width, height) / width
    return [
        (0, 0),
        (across, 0),
        (width, height - down),
        (width, height),
        (width - across, height),
        (0, down),
    ]


def outline_star(
    centre: Point, radius: float, *, points: int = 5, inner: float | None = None, turn: float = 0.0
) -> list[Point]:
    """A star's outline, its first point `turn` degrees clockwise from the top.

    `inner` is the radius of the notches as a share of `radius`. Without it the edges of a point
    are in line with those of the points next to its neighbours, as in the pentagram and the
    hexagram.
    """
    if inner is None:
        inner = cos(2 * pi / points) / cos(pi / points)
    step = 180 / points
    return [
        find_circle_point(centre, radius * (inner if k % 2 else 1), turn + step * k)
        for k in range(2 * points)
    ]
