"""The Union Flag in the canton of Australia and New Zealand, 60 x 30 units, published 1:2."""

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.layouts import Point, outline_diagonal

_WIDTH, _HEIGHT = 60.0, 30.0


def paint_union_flag(cloth: Cloth, *, width: float, blue: str, red: str) -> None:
    """Fill the cloth's upper left corner, `width` units wide, with the Union Flag."""
    unit = width / _WIDTH

    def on_cloth(points: list[Point]) -> list[Point]:
        return [(x * unit, y * unit) for x, y in points]

    def bar(left_x: float, top_y: float, right_x: float, bottom_y: float, colour: str) -> None:
        cloth.paint_bar(left_x * unit, top_y * unit, right_x * unit, bottom_y * unit, colour)

    bar(0, 0, _WIDTH, _HEIGHT, blue)
    falling = outline_diagonal(_WIDTH, _HEIGHT, 6)
    cloth.paint_polygon(on_cloth(falling), "#ffffff")
    cloth.paint_polygon(on_cloth([(_WIDTH - x, y) for x, y in falling]), "#ffffff")
    for arm in _outline_red_arms():
        cloth.paint_polygon(on_cloth(arm), red)
    for breadth, colour in ((10, "#ffffff"), (6, red)):
        bar((_WIDTH - breadth) / 2, 0, (_WIDTH + breadth) / 2, _HEIGHT, colour)
        bar(0, (_HEIGHT - breadth) / 2, _WIDTH, (_HEIGHT + breadth) / 2, colour)


def _outline_red_arms() -> list[list[Point]]:
    """The red saltire's four arms, 2 units broad, each on one side of its diagonal."""
    _, (across, _), *_, (_, down) = outline_diagonal(_WIDTH, _HEIGHT, 4)
    x, y = _WIDTH / 2, _HEIGHT / 2
    arms: list[list[Point]] = [
        [(0, 0), (0, down), (x - across, y), (x, y)],
        [(_WIDTH, 0), (_WIDTH - across, 0), (x, y - down), (x, y)],
    ]
    turned = [[(_WIDTH - a, _HEIGHT - b) for a, b in arm] for arm in arms]
    return arms + turned
