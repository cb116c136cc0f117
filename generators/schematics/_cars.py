"""A logo, a car from the front, and the one on the other."""

from random import Random

import svgwrite

from generators.schematics._background import (
    GROUND,
    HEIGHT,
    INK,
    WIDTH,
    add_label,
    create_outdoors,
    create_sheet,
)
from generators.schematics._marks import draw_marks

LOGO = "#1d3557"
_PAINTS = {"white": "#f4f4f0", "grey": "#8d9299", "black": "#3a3d42"}
_UNPAINTED = "#7fa3bd"
_ROOFS = {
    "sedan": (150, 110),
    "SUV": (178, 165),
    "coupe": (140, 92),
    "convertible": (152, 96),
    "station wagon": (168, 128),
    "sports car": (132, 74),
}
"""Half-width and height of the cabin over the bonnet, in px."""


def draw_logo(brand: str, element: str, count: int, seed: str) -> str:
    """A brand's logo by itself."""
    chance = Random(f"sketch/{seed}")
    drawing = create_sheet("#fbfbf9")
    middle = (WIDTH / 2 + chance.uniform(-20, 20), 260 + chance.uniform(-14, 14))
    draw_marks(drawing, element, count, (*middle, 560, 300), LOGO)
    add_label(drawing, f"{brand} logo")
    return str(drawing.tostring())


def draw_car(
    colour: str, body: str, name: str, seed: str, badge: tuple[str, int] | None = None
) -> str:
    """A car on a road; `badge` is the element of its logo and how many there are of it."""
    chance = Random(f"sketch/{seed}")
    drawing = create_outdoors(chance)
    x = WIDTH / 2 + chance.uniform(-30, 30)
    road = [(x - 110, GROUND - 60), (x + 110, GROUND - 60), (WIDTH, HEIGHT), (0, HEIGHT)]
    drawing.add(drawing.polygon(road, fill="#9a9ca0"))
    paint = _PAINTS.get(colour, _UNPAINTED)
    style = {"fill": paint, "stroke": INK, "stroke_width": 3}
    for side in (-1, 1):
        drawing.add(drawing.rect((x + side * 182 - 34, 415), (68, 82), rx=12, fill=INK))
    _draw_cabin(drawing, x, body, style)
    drawing.add(drawing.rect((x - 240, 268), (480, 190), rx=46, ry=46, **style))
    for side in (-1, 1):
        lamp = (x + side * 184, 318)
        drawing.add(drawing.ellipse(lamp, (36, 20), fill="#fdf3c4", stroke=INK, stroke_width=2))
    drawing.add(drawing.rect((x - 128, 286), (256, 118), rx=22, ry=22, fill="#55595e"))
    drawing.add(drawing.rect((x - 118, 296), (236, 98), rx=16, ry=16, fill="#eef0f1"))
    drawing.add(drawing.rect((x - 54, 418), (108, 26), rx=4, fill="#ffffff", stroke=INK))
    if badge is not None:
        draw_marks(drawing, *badge, (x, 345, 212, 82), LOGO)
    add_label(drawing, name)
    return str(drawing.tostring())


def _draw_cabin(drawing: svgwrite.Drawing, x: float, body: str, style: dict[str, object]) -> None:
    half, high = _ROOFS.get(body, _ROOFS["sedan"])
    top, low = 278 - high, 284
    frame = [(x - half, top), (x + half, top), (x + half + 46, low), (x - half - 46, low)]
    pane = [(x - half + 12, top + 14), (x + half - 12, top + 14)]
    pane += [(x + half + 22, low - 8), (x - half - 22, low - 8)]
    if body == "convertible":
        rim = {"fill": "none", "stroke": INK, "stroke_width": 8}
        drawing.add(drawing.polygon(pane, fill="#d9eaf2", opacity=0.6))
        drawing.add(drawing.polyline([frame[3], frame[0], frame[1], frame[2]], **rim))
        return
    drawing.add(drawing.polygon(frame, **style, stroke_linejoin="round"))
    drawing.add(drawing.polygon(pane, fill="#bcd4e2", stroke=INK, stroke_width=2))
    if body in ("SUV", "station wagon"):
        for side in (-1, 1):
            rail = (x + side * (half - 22) - 14, top - 10)
            drawing.add(drawing.rect(rail, (28, 10), fill=INK))
