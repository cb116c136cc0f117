"""An animal from the side: a body, a neck and a head, and legs that are apart."""

from random import Random

import svgwrite

from generators.schematics._background import INK, WIDTH, add_label, create_outdoors

LEG = "#5b3a1e"
_COATS = ("#c99a5b", "#b9b2a6", "#d8c3a0", "#9c7a5a", "#e0a9a0", "#a9b7bf", "#c4b35f", "#b07f62")
_LONG_NECKED = frozenset(
    (
        *("flamingo", "heron", "stork", "crane", "ostrich", "egret", "ibis", "spoonbill", "emu"),
        *("rhea", "secretary bird", "stilt", "avocet", "giraffe", "camel", "llama", "alpaca"),
        *("guanaco", "gerenuk", "horse", "moose", "okapi"),
    )
)
_MAX_BIRD_LEGS = 3
_FOOT = 478.0


def draw_animal(name: str, legs: int, seed: str) -> str:
    """The animal with so many legs; its looks are its name's, where it stands the seed's."""
    looks, chance = Random(f"looks/{name}"), Random(f"sketch/{seed}")
    drawing = create_outdoors(chance)
    x = WIDTH / 2 - 30 + chance.uniform(-40, 40)
    coat = looks.choice(_COATS)
    neck = looks.uniform(135, 165) if name in _LONG_NECKED else looks.uniform(55, 85)
    if legs <= _MAX_BIRD_LEGS:
        _draw_bird(drawing, legs, x, coat, neck, chance)
    else:
        _draw_mammal(drawing, legs, x, coat, neck, looks, chance)
    add_label(drawing, name)
    return str(drawing.tostring())


def _draw_bird(
    drawing: svgwrite.Drawing, legs: int, x: float, coat: str, neck: float, chance: Random
) -> None:
    y = 285.0
    _draw_legs(drawing, legs, x - 6, 120, y + 40, 9, chance)
    head = (x + 105 + neck * 0.2, y - 30 - neck)
    style = {"fill": coat, "stroke": INK, "stroke_width": 3}
    drawing.add(drawing.polygon([(x - 70, y - 20), (x - 175, y - 38), (x - 95, y + 22)], **style))
    drawing.add(_draw_neck(drawing, (x + 72, y - 12), head, 28, coat))
    drawing.add(drawing.ellipse((x, y), (108, 62), **style))
    drawing.add(drawing.ellipse((x - 22, y - 4), (62, 30), fill="#000000", opacity=0.18))
    drawing.add(
        drawing.polygon(
            [
                (head[0] + 18, head[1] - 10),
                (head[0] + 82, head[1] + 10),
                (head[0] + 18, head[1] + 12),
            ],
            fill="#e0932f",
            stroke=INK,
            stroke_width=2,
        )
    )
    _draw_head(drawing, head, 30, 26, coat)


def _draw_mammal(
    drawing: svgwrite.Drawing,
    legs: int,
    x: float,
    coat: str,
    neck: float,
    looks: Random,
    chance: Random,
) -> None:
    y, long = 285.0, looks.uniform(150, 172)
    _draw_legs(drawing, legs, x, 2 * long * 0.8, y + 30, 19, chance)
    head = (x + long + neck * 0.3, y - 20 - neck)
    style = {"fill": coat, "stroke": INK, "stroke_width": 3}
    tail = (
        f"M {x - long + 8:.2f} {y - 20:.2f}"
        f" C {x - long - 40:.2f} {y - 30:.2f} {x - long - 46:.2f} {y + 30:.2f}"
        f" {x - long - 40 + looks.uniform(-6, 6):.2f} {y + 70:.2f}"
    )
    drawing.add(
        drawing.path(tail, fill="none", stroke=coat, stroke_width=10, stroke_linecap="round")
    )
    drawing.add(_draw_neck(drawing, (x + long - 40, y - 8), head, 52, coat))
    drawing.add(drawing.ellipse((x, y), (long, looks.uniform(62, 72)), **style))
    for side in (-16, 8):
        ear = [
            (head[0] + side - 10, head[1] - 18),
            (head[0] + side - 4, head[1] - 56),
            (head[0] + side + 10, head[1] - 20),
        ]
        drawing.add(drawing.polygon(ear, **style))
    drawing.add(drawing.ellipse((head[0] + 40, head[1] + 14), (36, 22), **style))
    _draw_head(drawing, head, 42, 32, coat)


def _draw_head(
    drawing: svgwrite.Drawing,
    centre: tuple[float, float],
    half_width: float,
    half_height: float,
    coat: str,
) -> None:
    drawing.add(
        drawing.ellipse(centre, (half_width, half_height), fill=coat, stroke=INK, stroke_width=3)
    )
    drawing.add(drawing.circle((centre[0] + half_width * 0.3, centre[1] - 5), 5, fill=INK))


def _draw_neck(
    drawing: svgwrite.Drawing,
    low: tuple[float, float],
    high: tuple[float, float],
    thick: float,
    coat: str,
) -> svgwrite.container.Group:
    """A neck: a thick line with an outline."""
    line = f"M {low[0]:.2f} {low[1]:.2f} L {high[0]:.2f} {high[1]:.2f}"
    group = drawing.g()
    for colour, width in ((INK, thick + 6), (coat, thick)):
        group.add(
            drawing.path(
                line, fill="none", stroke=colour, stroke_width=width, stroke_linecap="round"
            )
        )
    return group


def _draw_legs(
    drawing: svgwrite.Drawing,
    count: int,
    x: float,
    across: float,
    top: float,
    thick: float,
    chance: Random,
) -> None:
    """Legs side by side, each with its foot; the walk moves the feet, never onto another's."""
    pitch = across / count
    thick = min(thick, pitch * 0.45)
    for place in range(count):
        hip = x + (place - (count - 1) / 2) * pitch
        foot = hip + chance.uniform(-0.12, 0.12) * pitch
        leg = f"M {hip:.2f} {top:.2f} L {foot:.2f} {_FOOT:.2f}"
        drawing.add(drawing.path(leg, fill="none", stroke=LEG, stroke_width=thick))
        drawing.add(
            drawing.ellipse((foot + pitch * 0.06, _FOOT), (min(thick, pitch * 0.3), 7), fill=LEG)
        )
