"""Flags of stripes, most of them with a canton.

Stripes share the height by the original's relative widths and alternate from its top colour. A
canton keeps its width and takes the whole stripes that come nearest to its usual height; what it
carries stands in its middle.
"""

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.designs.sun_of_may import paint_sun_of_may
from generators.domains.flags.layouts import (
    compute_boundaries,
    count_canton_stripes,
    find_min_distance,
    place_star_field,
)

_WHITE = "#ffffff"


def _paint_stripes(cloth: Cloth, count: int, colours: tuple[str, str]) -> None:
    edges = compute_boundaries([1] * count, cloth.height)
    cloth.paint_bands(edges, [colours[k % 2] for k in range(count)])


def _paint_canton(
    cloth: Cloth, count: int, colours: tuple[str, str], *, width: float, share: float, colour: str
) -> float:
    """Paint stripes and a canton upon them; the canton's height."""
    _paint_stripes(cloth, count, colours)
    stripe_count = count_canton_stripes(share, count, colours, colour)
    height = cloth.height * stripe_count / count
    cloth.paint_bar(0, 0, width, height, colour)
    return height


def paint_united_states(cloth: Cloth, stars: int, stripes: int) -> None:
    """Executive Order 10834 of 1959, hoist 1: union 0.76 wide, stars 0.0616 across."""
    red, blue = "#b22234", "#3c3b6e"
    height = _paint_canton(cloth, stripes, (red, _WHITE), width=0.76, share=7 / 13, colour=blue)
    centres = place_star_field(stars, 0.76, height)
    radius = min(0.0308, 0.4 * find_min_distance(centres))
    for centre in centres:
        cloth.paint_star(centre, radius, _WHITE)


def paint_malaysia(cloth: Cloth, stripes: int) -> None:
    """Hoist 1400: a canton half as wide as the flag with the crescent and the Federal Star."""
    blue, yellow = "#010066", "#ffcc00"
    height = _paint_canton(
        cloth, stripes, ("#cc0001", _WHITE), width=1400, share=8 / 14, colour=blue
    )
    middle = height / 2
    cloth.paint_disc((576, middle), 300, yellow)
    cloth.paint_disc((651.7, middle + 0.8), 266, blue)
    cloth.paint_star((875.4, middle - 0.2), 250, yellow, points=14, inner=0.46)


def paint_liberia(cloth: Cloth, stripes: int) -> None:
    """Hoist 110: a square canton with the Lone Star."""
    blue = "#002868"
    height = _paint_canton(cloth, stripes, ("#bf0a30", _WHITE), width=50, share=5 / 11, colour=blue)
    cloth.paint_star((25, height / 2), 15, _WHITE)


def paint_greece(cloth: Cloth, stripes: int) -> None:
    """Law 851 of 1978, hoist 18: a square canton with a cross one stripe broad."""
    blue = "#0d5eaf"
    height = _paint_canton(cloth, stripes, (blue, _WHITE), width=10, share=5 / 9, colour=blue)
    breadth = cloth.height / stripes
    cloth.paint_bar(5 - breadth / 2, 0, 5 + breadth / 2, height, _WHITE)
    cloth.paint_bar(0, (height - breadth) / 2, 10, (height + breadth) / 2, _WHITE)


def paint_uruguay(cloth: Cloth, stripes: int) -> None:
    """Decree of 1952, hoist 18: a white canton with the Sun of May, 22/30 of it across."""
    colours = (_WHITE, "#0038a8")
    height = _paint_canton(cloth, stripes, colours, width=10, share=5 / 9, colour=_WHITE)
    paint_sun_of_may(cloth, centre=(5, height / 2), radius=11 / 3)


def paint_cuba(cloth: Cloth, stripes: int) -> None:
    """Hoist 400: an equilateral triangle at the hoist with a star of 60."""
    _paint_stripes(cloth, stripes, ("#002a8f", _WHITE))
    tip = 400 * 3**0.5 / 2
    cloth.paint_polygon([(0, 0), (tip, 200), (0, 400)], "#cf142b")
    cloth.paint_star((tip / 3, 200), 60, _WHITE)


def paint_thailand(cloth: Cloth, stripes: int) -> None:
    """Flag Act of 1979, hoist 6: the third stripe is twice as broad as each of the others."""
    red, white, blue = "#a51931", "#f4f5f8", "#2d2a4a"
    edges = compute_boundaries([2 if k == 2 else 1 for k in range(stripes)], cloth.height)
    cloth.paint_bands(edges, [blue if k == 2 else (red, white)[k % 2] for k in range(stripes)])
