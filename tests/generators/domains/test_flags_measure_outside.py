import re
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.canvas import create_canvas, decode_png, rasterise
from generators.domains.flags.measure import measure, measure_legibility
from generators.reading import Pixels, Unreadable

DRAWINGS = Path(__file__).parents[2] / "outside/node_modules/svg-country-flags/svg"

# Drawings by others, which no table of ours has touched. Counted by eye, not looked up in ours.
OUTSIDE = {
    "stars": {
        **{"us": 50, "eu": 12, "cn": 5, "au": 6, "nz": 4, "ve": 8, "hn": 5, "cv": 10, "fm": 4},
        **{"sb": 5, "sg": 5, "ws": 5, "bi": 3},
        **{"tr": 1, "pa": 2, "sy": 2, "pg": 5, "cx": 5, "xk": 6, "tv": 9, "dm": 10, "uz": 12},
        **{"ck": 15, "gd": 7, "il": 1, "az": 1, "my": 1},
    },
    "stripes": {
        **{"us": 13, "my": 14, "gr": 9, "lr": 11, "uy": 9, "cu": 5, "th": 5},
        **{"nl": 3, "mu": 4, "tg": 5, "cr": 5, "ug": 6, "zw": 7},
    },
}


def outside_pixels(code: str, size: int) -> Pixels:
    path = DRAWINGS / f"{code}.svg"
    if not path.exists():
        pytest.fail(
            f"{path} is missing. Fetch it with: "
            "npm install --prefix tests/outside --no-package-lock --no-audit --no-fund"
        )
    svg = path.read_text()
    svg = svg[svg.index("<svg") :]
    view = [float(v) for v in re.search(r'viewBox="([^"]+)"', svg)[1].split()]
    margin = size // 16
    width = size - 2 * margin
    height = round(width * view[3] / view[2])
    place = f'x="{margin}" y="{margin}" width="{width}" height="{height}"'
    flag = svg.replace("<svg ", f'<svg preserveAspectRatio="none" {place} ', 1)
    ground = create_canvas(size, height + 2 * margin, "#8c8c8c").tostring()
    return decode_png(rasterise(ground.replace("</svg>", flag + "</svg>")))


@pytest.mark.parametrize("size", [384, 768, 1152])
@pytest.mark.parametrize(
    ("target", "code"), [(target, code) for target, codes in OUTSIDE.items() for code in codes]
)
def test_independent_drawings_read_right(target: str, code: str, size: int):
    assert measure(outside_pixels(code, size), [target]) == [OUTSIDE[target][code]]


# Crosses, discs, Union Jacks, crescents' hosts and a sun with sixteen rays: nothing with points.
@pytest.mark.parametrize("code", ["gb", "ch", "jp", "ge", "se", "bd", "uy", "mk", "gr", "th"])
def test_what_has_no_star_is_not_given_one(code: str):
    with pytest.raises(Unreadable, match="no stars"):
        measure(outside_pixels(code, 768), ["stars"])


@pytest.mark.parametrize("code", ["cn", "fm", "eu", "au", "bi", "sb", "tr"])
def test_what_has_no_stripes_is_not_given_any(code: str):
    with pytest.raises(Unreadable, match="no stripes"):
        measure(outside_pixels(code, 768), ["stripes"])


def flag_with(*shapes: dict[str, object], ground: str = "#7f7f7f") -> Pixels:
    drawing = create_canvas(384, 240, ground)
    drawing.add(drawing.rect((16, 16), (352, 208), fill="#003399"))
    for shape in shapes:
        drawing.add(drawing.polygon(**shape))
    return decode_png(rasterise(drawing.tostring()))


def star(x: float, y: float, radius: float, points: int, inner: float, turn: float = 0):
    angles = [turn + pi * i / points for i in range(2 * points)]
    radii = [radius, inner * radius] * points
    return [(x + r * sin(a), y - r * cos(a)) for a, r in zip(angles, radii, strict=True)]


@settings(max_examples=25, deadline=None)
@given(
    count=st.integers(1, 60),
    points=st.integers(5, 9),
    radius=st.floats(9, 14),
    turn=st.floats(0, 2 * pi),
    bordered=st.booleans(),
)
def test_any_number_of_stars_of_any_kind_is_read(count, points, radius, turn, bordered):
    border = {"stroke": "#ffffff", "stroke_width": 2} if bordered else {}
    places = [(34 + 35 * (i % 10), 34 + 34 * (i // 10)) for i in range(count)]
    stars = [star(x, y, radius, points, 0.4, turn) for x, y in places]
    picture = flag_with(*({"points": s, "fill": "#ffcc00", **border} for s in stars))
    assert measure(picture, ["stars"]) == [count]


@settings(max_examples=25, deadline=None)
@given(corners=st.integers(3, 12), radius=st.floats(5, 80), turn=st.floats(0, 2 * pi))
def test_no_regular_polygon_is_a_star(corners, radius, turn):
    flat = star(192, 120, radius, corners, cos(pi / corners), turn)
    with pytest.raises(Unreadable):
        measure(flag_with({"points": flat, "fill": "#ffffff"}), ["stars"])


@settings(max_examples=25, deadline=None)
@given(heights=st.lists(st.integers(9, 20), min_size=2, max_size=18))
def test_any_stripes_are_counted_and_their_narrowest_is_known(heights):
    drawing = create_canvas(384, sum(heights) + 32, "#7f7f7f")
    top = 16
    for i, height in enumerate(heights):
        drawing.add(drawing.rect((16, top), (352, height), fill=["#ce1126", "#ffffff"][i % 2]))
        top += height
    picture = decode_png(rasterise(drawing.tostring()))
    assert measure(picture, ["stripes"]) == [len(heights)]
    assert measure_legibility(picture) == pytest.approx((min(heights), min(heights)), abs=0.1)


def test_the_gap_between_stars_and_their_width_are_those_drawn():
    side = 40 * sin(2 * pi / 5)
    pair = [star(x, 120, 20, 5, 0.382) for x in (150, 150 + side + 3.5)]
    mark, gap = measure_legibility(flag_with(*({"points": s, "fill": "#ffffff"} for s in pair)))
    assert gap == pytest.approx(3.5, abs=1.2)
    assert mark == pytest.approx(20 * (1 + cos(pi / 5)), abs=3)


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        (np.full((200, 300, 3), 128, np.uint8), "nothing on the ground"),
        (np.full((200, 300, 3), 255, np.uint8), "nothing on the ground"),
        (flag_with(), "no stars"),
        (flag_with(ground="#cc2200"), "no plain grey ground"),
    ],
)
def test_what_shows_no_stars_says_why(picture: Pixels, why: str):
    with pytest.raises(Unreadable, match=why):
        measure(picture, ["stars"])
