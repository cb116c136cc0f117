"""The elements of logos, as many as are asked for, apart enough to be counted."""

from math import cos, pi, sin

import svgwrite

Box = tuple[float, float, float, float]
"""The middle's x and y, the width and the height."""


def draw_marks(drawing: svgwrite.Drawing, element: str, count: int, box: Box, colour: str) -> None:
    """`count` of what `element` names, filling the box; dots for a name that is not known."""
    for words, draw in _DRAWERS.items():
        if any(word in element for word in words):
            draw(drawing, count, box, colour)
            return
    _draw_dots(drawing, count, box, colour)


def _draw_stripes(drawing: svgwrite.Drawing, count: int, box: Box, colour: str) -> None:
    x, y, width, height = box
    lean, pitch = height * 0.35, (width - height * 0.35) / count
    thick = pitch * 0.55
    for place in range(count):
        stripe_left = x - width / 2 + (place + 0.225) * pitch
        corners = [
            (stripe_left, y - height / 2),
            (stripe_left + thick, y - height / 2),
            (stripe_left + thick + lean, y + height / 2),
            (stripe_left + lean, y + height / 2),
        ]
        drawing.add(drawing.polygon(corners, fill=colour))


def _draw_curves(drawing: svgwrite.Drawing, count: int, box: Box, colour: str) -> None:
    x, y, width, height = box
    left_x, pitch = x - width / 2, height / count
    for place in range(count):
        low = y - height / 2 + (place + 1) * pitch

        def to_point(across: float, up: float, low: float = low) -> str:
            return f"{left_x + across * width:.2f} {low - up * pitch:.2f}"

        curve = (
            f"M {to_point(0, 0.9)} C {to_point(0, -0.25)} {to_point(0.3, -0.25)} {to_point(1, 1)}"
            f" C {to_point(0.4, 0.35)} {to_point(0.16, 0.25)} {to_point(0, 0.9)} Z"
        )
        drawing.add(drawing.path(curve, fill=colour))


def _draw_rings(drawing: svgwrite.Drawing, count: int, box: Box, colour: str) -> None:
    x, y, width, height = box
    step = 1.45
    radius = min(height / 2, width / (2 + step * (count - 1))) * 0.92
    for place in range(count):
        centre = (x + (place - (count - 1) / 2) * step * radius, y)
        drawing.add(
            drawing.circle(
                centre, radius, fill="none", stroke=colour, stroke_width=max(3, radius * 0.17)
            )
        )


def _draw_star(drawing: svgwrite.Drawing, count: int, box: Box, colour: str) -> None:
    x, y, _, height = box
    radius = height / 2
    waist = radius * 0.13
    for place in range(count):
        turn = 2 * pi * place / count
        right, up = (cos(turn), sin(turn)), (sin(turn), -cos(turn))
        tip = (x + radius * 0.84 * up[0], y + radius * 0.84 * up[1])
        foot = [(x + side * right[0], y + side * right[1]) for side in (-waist, waist)]
        drawing.add(drawing.polygon([tip, *foot], fill=colour))
    ring = max(3, radius * 0.08)
    drawing.add(
        drawing.circle((x, y), radius - ring / 2, fill="none", stroke=colour, stroke_width=ring)
    )


def _draw_prongs(drawing: svgwrite.Drawing, count: int, box: Box, colour: str) -> None:
    x, y, width, height = box
    across = min(width, height * (0.5 + 0.14 * count))
    pitch = across / count
    thick = pitch * 0.42
    top, bar = y - height / 2, y + height * 0.12
    for place in range(count):
        prong_x = x + (place - (count - 1) / 2) * pitch
        tip = [
            (prong_x - thick / 2, bar),
            (prong_x - thick / 2, top + thick),
            (prong_x, top),
            (prong_x + thick / 2, top + thick),
            (prong_x + thick / 2, bar),
        ]
        drawing.add(drawing.polygon(tip, fill=colour))
    span = across - pitch + thick
    drawing.add(drawing.rect((x - span / 2, bar - 0.5), (span, height * 0.1), fill=colour))
    drawing.add(
        drawing.rect((x - height * 0.05, bar), (height * 0.1, height * 0.38), rx=2, fill=colour)
    )


def _draw_dots(drawing: svgwrite.Drawing, count: int, box: Box, colour: str) -> None:
    x, y, width, height = box
    pitch = width / count
    for place in range(count):
        centre = (x + (place - (count - 1) / 2) * pitch, y)
        drawing.add(drawing.circle(centre, min(height / 2, pitch * 0.35), fill=colour))


_DRAWERS = {
    ("stripe", "bar"): _draw_stripes,
    ("curve", "swoosh"): _draw_curves,
    ("circle", "ring"): _draw_rings,
    ("point",): _draw_star,
    ("prong",): _draw_prongs,
}
