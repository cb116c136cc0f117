"""A shoe, and an athlete who wears a pair of them."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import svgwrite

from generators.canvas import decode_png
from generators.schematics._background import INK, WIDTH, add_label, create_outdoors, create_sheet
from generators.schematics._marks import draw_marks

SHOES = {"black": "#2b2d31", "red": "#c8372d", "white": "#f7f6f2"}
MARKS = {"white": "#ffffff", "black": "#000000"}
_SKIN = "#c98f63"
_SHIRTS = ("#2a6fdb", "#2e9e4f", "#7d4bb5", "#f08c1e")


class ShoeColours(NamedTuple):
    """The colours of a shoe and of the marks on it, by name."""

    shoe: str
    mark: str


def draw_shoe(brand: str, element: str, count: int, colours: ShoeColours, seed: str) -> str:
    """A shoe from the side."""
    chance = Random(f"sketch/{seed}")
    drawing = create_sheet("#dfe6e9")
    x, y = WIDTH / 2 + chance.uniform(-20, 20), 270 + chance.uniform(-14, 14)
    floor = (x, y + 148)
    drawing.add(drawing.ellipse(floor, (300, 26), fill="#c3ccd1"))
    _draw_one_shoe(drawing, x - 300, y - 150, 2, element, count, colours)
    add_label(drawing, f"{brand} style running shoe")
    return str(drawing.tostring())


def find_shoe_colours(pictures: Sequence[bytes]) -> ShoeColours:
    """The colours of the shoe that is on pictures of ours; black with white where there is none."""
    paint_areas: Counter[str] = Counter()
    for picture in pictures:
        pixels = decode_png(picture)[::4, ::4]
        for name, paint in SHOES.items():
            paint_areas[name] += int((pixels == list(bytes.fromhex(paint[1:]))).all(axis=2).sum())
    [(name, area)] = paint_areas.most_common(1) or [("black", 0)]
    shoe = name if area else "black"
    return ShoeColours(shoe=shoe, mark="black" if shoe == "white" else "white")


def draw_athlete(sport: str, element: str, count: int, colours: ShoeColours, seed: str) -> str:
    """Somebody doing a sport in two such shoes, which are drawn large."""
    chance = Random(f"sketch/{seed}")
    drawing = create_outdoors(chance)
    x, shirt = WIDTH / 2 - 20 + chance.uniform(-30, 30), chance.choice(_SHIRTS)
    hip, neck = (x, 262), (x + 22, 128)
    ankles = ((x - 168, 424), (x + 128, 424))
    for (ankle_x, ankle_y), knee in zip(ankles, ((x - 62, 356), (x + 112, 320)), strict=True):
        limb = [hip, knee, (ankle_x, ankle_y)]
        drawing.add(_draw_limb(drawing, limb, 30, _SKIN))
        drawing.add(
            _draw_limb(drawing, [hip, ((hip[0] + knee[0]) / 2, (hip[1] + knee[1]) / 2)], 40, INK)
        )
    hands = ((x - 78, 226), (x + 122, 168))
    drawing.add(_draw_limb(drawing, [neck, (x - 50, 176), hands[0]], 20, _SKIN))
    drawing.add(_draw_limb(drawing, [hip, neck], 62, shirt))
    drawing.add(_draw_limb(drawing, [neck, (x + 72, 186), hands[1]], 20, _SKIN))
    drawing.add(drawing.circle((x + 30, 62), 34, fill=_SKIN, stroke=INK, stroke_width=3))
    drawing.add(drawing.circle((x + 46, 56), 4, fill=INK))
    _draw_gear(drawing, sport, x, hands[1])
    for ankle_x, ankle_y in ankles:
        _draw_one_shoe(drawing, ankle_x - 58, ankle_y - 22, 0.72, element, count, colours)
    add_label(drawing, f"athlete, {sport}")
    return str(drawing.tostring())


def _draw_limb(
    drawing: svgwrite.Drawing, joints: Sequence[tuple[float, float]], thick: float, colour: str
) -> svgwrite.shapes.Polyline:
    return drawing.polyline(
        joints,
        fill="none",
        stroke=colour,
        stroke_width=thick,
        stroke_linecap="round",
        stroke_linejoin="round",
    )


def _draw_gear(drawing: svgwrite.Drawing, sport: str, x: float, hand: tuple[float, float]) -> None:
    line = {"stroke": INK, "stroke_width": 3}
    if sport == "tennis":
        head = (hand[0] + 66, hand[1] - 62)
        drawing.add(drawing.line(hand, (head[0] - 26, head[1] + 26), stroke=INK, stroke_width=9))
        drawing.add(drawing.ellipse(head, (36, 42), fill="#eef3e4", **line))
        drawing.add(drawing.circle((head[0] + 78, head[1] - 18), 13, fill="#d4e157", **line))
    elif sport == "basketball":
        ball = (hand[0] + 20, hand[1] - 30)
        drawing.add(drawing.circle(ball, 34, fill="#e8833a", **line))
        drawing.add(drawing.line((ball[0] - 34, ball[1]), (ball[0] + 34, ball[1]), **line))
        drawing.add(drawing.line((ball[0], ball[1] - 34), (ball[0], ball[1] + 34), **line))
    elif sport == "soccer":
        ball = (x + 310, 482)
        drawing.add(drawing.circle(ball, 30, fill="#eceff1", **line))
        drawing.add(drawing.circle(ball, 10, fill=INK))
    elif sport == "running":
        for y in (150, 200, 250):
            drawing.add(drawing.line((x - 270, y), (x - 160, y), stroke="#9fb4bd", stroke_width=6))


def _draw_one_shoe(
    drawing: svgwrite.Drawing,
    x: float,
    y: float,
    scale: float,
    element: str,
    count: int,
    colours: ShoeColours,
) -> None:
    """A shoe that points right, 300 x 135 units in size, its upper left corner at x, y."""

    def to_points(*numbers: float) -> str:
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        return " ".join(
            f"{x + across * scale:.2f} {y + down * scale:.2f}" for across, down in pairs
        )

    upper = (
        f"M {to_points(16, 112)} C {to_points(8, 70, 14, 30, 40, 12)} L {to_points(104, 12)}"
        f" C {to_points(112, 34, 126, 44, 150, 40)} C {to_points(180, 60, 220, 70, 258, 76)}"
        f" C {to_points(290, 82, 298, 100, 294, 114)} Z"
    )
    style = {"stroke": INK, "stroke_width": 3}
    drawing.add(drawing.path(upper, fill=SHOES.get(colours.shoe, "#8a94a0"), **style))
    drawing.add(
        drawing.rect(
            (x + 10 * scale, y + 110 * scale),
            (286 * scale, 24 * scale),
            rx=10 * scale,
            fill="#d5d0c4",
            **style,
        )
    )
    box = (x + 128 * scale, y + 80 * scale, 136 * scale, 52 * scale)
    draw_marks(drawing, element, count, box, MARKS[colours.mark])
