"""The six figures as shapes, from Pyllusion's parameters, in its units.

Pyllusion is imported when a figure is first drawn: it brings pandas and matplotlib along and
takes most of a second.

Each figure's docstring says how its context deceives; `illusion_scenes` derives from the signs
whether it exaggerates or counteracts the true difference, and the tests derive it from the shapes.
"""

from collections.abc import Callable, Iterator, Mapping
from math import cos, pi, sin
from typing import Any, NamedTuple

from generators.domains.optical_illusions.shapes import Disc, Point, Shape, Stroke

RING_GAP = 0.03
"""Smallest distance between an inner circle and its context, and within the context."""
PONZO_SIDE = 0.8
"""Half-height spanned by Ponzo's sides; Pyllusion's 1.1 leaves its own canvas."""
PAST_STROKES = 0.05
"""The length by which Zöllner's long lines go beyond their outer strokes; Pyllusion cuts them at
±5."""


class IllusionFigure(NamedTuple):
    """The layout of an illusion: the canvas in units, and the shapes for its two numbers."""

    width: float
    height: float
    shapes: Callable[[float, float], Iterator[Shape]]


def _draw_ebbinghaus(strength: float, difference: float) -> Iterator[Shape]:
    """Two discs amid rings of discs; the one amid small discs looks larger.

    Sizes and numbers of discs are Pyllusion's. Its rings overlap, so each is widened until its
    discs stand `RING_GAP` apart, and the centres are 1.15 apart instead of 1.
    """
    p = _compute_parameters("Ebbinghaus", strength, difference, distance=1.15)
    for side, towards_middle in (("Left", 0.0), ("Right", pi)):
        x, inner, outer = (
            p[f"{parameter}_{side}"] for parameter in ("Position", "Size_Inner", "Size_Outer")
        )
        count = len(p[f"Position_Outer_x_{side}"])
        around_inner = (inner + outer) / 2 + RING_GAP
        beside_each_other = (outer + RING_GAP) / (2 * sin(pi / count))
        radius = max(around_inner, beside_each_other)
        yield Disc(centre=(x, 0.0), diameter=inner)
        for i in range(count):
            angle = towards_middle + 2 * pi * i / count
            yield Disc(centre=(x + radius * cos(angle), radius * sin(angle)), diameter=outer)


def _draw_mullerlyer(strength: float, difference: float) -> Iterator[Shape]:
    """Two lines with fins; the one whose fins point outwards looks longer."""
    p = _compute_parameters("MullerLyer", strength, difference)
    for line in ("Top", "Bottom"):
        yield _build_line(p, line)
        for end in ("Left", "Right"):
            upper, lower = (_build_line(p, f"Distractor_{line}{end}{fin}") for fin in (1, 2))
            yield Stroke(points=(upper.points[1], upper.points[0], lower.points[1]))


def _draw_ponzo(strength: float, difference: float) -> Iterator[Shape]:
    """Two bars between converging sides; the one where the sides are closer looks longer.

    The bars are 0.75 apart instead of 1, or at 25° they would touch the sides.
    """
    p = _compute_parameters("Ponzo", strength, difference, distance=0.75)
    for bar in ("Top", "Bottom"):
        yield _build_line(p, bar)
    for side in ("Left", "Right"):
        yield _cut_line(_build_line(p, side), axis=1, reach=PONZO_SIDE)


def _draw_vertical_horizontal(size: float, difference: float) -> Iterator[Shape]:
    """An inverted T; the vertical, which halves the horizontal, looks longer.

    Ours: Pyllusion's figure has no vertical line, or two detached ones. The vertical's length
    is from its top to the centre of the horizontal line that it stands on.
    """
    longer = size * (1 + abs(difference))
    vertical, horizontal = (longer, size) if difference > 0 else (size, longer)
    yield Stroke(points=((-horizontal / 2, 0.0), (horizontal / 2, 0.0)))
    yield Stroke(points=((0.0, 0.0), (0.0, vertical)))


def _draw_zollner(strength: float, difference: float) -> Iterator[Shape]:
    """Two lines crossed by slanting strokes; each looks turned away from its strokes.

    (The acute angles between line and stroke are overestimated.) With a positive strength and
    difference the lines open to the right and look as if they closed: Pyllusion's label calls
    that congruent, though it is not.
    """
    p = _compute_parameters("Zollner", strength, difference)
    for line in ("Top", "Bottom"):
        x1, y1, x2, y2 = (p[f"Distractors_{line}_{end}"] for end in ("x1", "y1", "x2", "y2"))
        starts, stops = zip(x1, y1, strict=True), zip(x2, y2, strict=True)
        strokes = [Stroke(points=points) for points in zip(starts, stops, strict=True)]
        outermost = max(max(abs(stroke.box[0]), abs(stroke.box[2])) for stroke in strokes)
        yield _cut_line(_build_line(p, line), axis=0, reach=outermost + PAST_STROKES)
        yield from strokes


def _draw_poggendorff(strength: float, difference: float) -> Iterator[Shape]:
    """A slanting line passes behind a rectangle; it looks broken, its parts too far apart.

    (The acute angles between line and rectangle are overestimated, so that each part seems to
    aim too level.) With a positive strength the line falls to the right; lowering the right
    part, a negative difference, adds to that. Pyllusion mirrors the slope for a negative
    difference, which makes all positive strengths incongruent, whatever its label says; here
    the slope follows the strength alone.
    """
    p = _compute_parameters("Poggendorff", strength if difference >= 0 else -strength, difference)
    yield _build_line(p, "Left")
    yield _build_line(p, "Right")
    x, y = p["Rectangle_Width"] / 2, p["Rectangle_Height"] / 2
    yield Stroke(points=((-x, -y), (x, -y), (x, y), (-x, y)), closed=True)


FIGURES = {
    "Ebbinghaus": IllusionFigure(width=2.4, height=1.6, shapes=_draw_ebbinghaus),
    "Müller-Lyer": IllusionFigure(width=1.6, height=1.6, shapes=_draw_mullerlyer),
    "Ponzo": IllusionFigure(width=2.0, height=2.0, shapes=_draw_ponzo),
    "Vertical–Horizontal": IllusionFigure(
        width=1.75, height=1.75, shapes=_draw_vertical_horizontal
    ),
    "Zöllner": IllusionFigure(width=2.88, height=1.62, shapes=_draw_zollner),
    "Poggendorff": IllusionFigure(width=2.0, height=2.0, shapes=_draw_poggendorff),
}
"""Canvas of all scenes of an illusion, shared so that strengths and sizes stay comparable."""


def _compute_parameters(
    illusion: str, strength: float, difference: float, **settings: float
) -> dict[str, Any]:
    import pyllusion  # noqa: PLC0415 - slow; see the module's docstring

    figure = getattr(pyllusion, illusion)
    parameters = figure(illusion_strength=strength, difference=difference, **settings)
    return dict(parameters.get_parameters())


def _build_line(parameters: Mapping[str, float], name: str) -> Stroke:
    start, end = ((parameters[f"{name}_x{i}"], parameters[f"{name}_y{i}"]) for i in (1, 2))
    return Stroke(points=(start, end))


def _cut_line(line: Stroke, *, axis: int, reach: float) -> Stroke:
    """The stretch of a line's continuation within ±`reach` along an axis (0 is x, 1 is y)."""
    start, end = line.points

    def place_point(goal: float) -> Point:
        share = (goal - start[axis]) / (end[axis] - start[axis])
        return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])

    return Stroke(points=(place_point(-reach), place_point(reach)))
