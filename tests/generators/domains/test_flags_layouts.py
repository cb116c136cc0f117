from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import dist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from generators.canvas import decode_png, rasterise
from generators.domains.flags.designs import FLAGS
from generators.domains.flags.draw import build_original, draw
from generators.domains.flags.layouts import (
    compute_arc_angles,
    compute_boundaries,
    compute_resting_ring_angles,
    compute_ring_angles,
    count_canton_stripes,
    find_circle_point,
    find_min_distance,
    outline_star,
    place_pips,
    place_star_field,
)
from generators.domains.flags.measure import measure
from generators.reading import Pixels

COUNTS = st.integers(1, 60)
STRIPED = [slug for slug, flag in FLAGS.items() if "stripes" in flag.standards]


def picture(slug: str, size: int, **counts: int) -> Pixels:
    scene = build_original(slug)
    return decode_png(rasterise(draw(replace(scene, settings={**scene.settings, **counts}), size)))


@pytest.mark.parametrize(
    ("count", "rows"),
    [
        (48, [8] * 6),
        (49, [7] * 7),
        (50, [6, 5, 6, 5, 6, 5, 6, 5, 6]),
        (51, [9, 8, 9, 8, 9, 8]),
    ],
)
def test_unions_have_the_rows_that_they_are_known_by(count: int, rows: list[int]) -> None:
    assert list(Counter(y for _, y in place_star_field(count, 0.76, 7 / 13)).values()) == rows


def test_the_union_of_50_has_the_places_of_the_executive_order() -> None:
    places = place_star_field(50, 0.76, 7 / 13)
    assert places[0] == pytest.approx((0.063, 0.054), abs=1e-3)
    assert places[6] == pytest.approx((0.126, 0.108), abs=1e-3)
    assert places[-1] == pytest.approx((0.76 - 0.063, 7 / 13 - 0.054), abs=1e-3)


@given(COUNTS, st.floats(1, 3))
@settings(max_examples=25)
def test_a_field_holds_every_star_apart_and_inside(count: int, width: float) -> None:
    places = place_star_field(count, width, 1)
    assert len(places) == count
    assert find_min_distance([*places, (-1.0, -1.0)]) > 0.05
    for x, y in places:
        assert 0.05 < x < width - 0.05
        assert 0.05 < y < 0.95


@given(COUNTS, st.sampled_from([compute_ring_angles, compute_resting_ring_angles]))
@settings(max_examples=25)
def test_a_ring_is_even(count: int, layout: Callable[[int], list[float]]) -> None:
    places = [find_circle_point((3, 4), 2, angle) for angle in layout(count)]
    steps = [dist(a, b) for a, b in zip(places, [*places[1:], places[0]], strict=True)]
    assert len(places) == count
    assert steps == pytest.approx([4 * np.sin(np.pi / count)] * count, abs=1e-9)


@given(st.integers(2, 60))
@settings(max_examples=25)
def test_an_arc_is_even_between_its_ends(count: int) -> None:
    angles = compute_arc_angles(count, half=70)
    assert (angles[0], angles[-1]) == pytest.approx((-70, 70))
    assert np.diff(angles) == pytest.approx([140 / (count - 1)] * (count - 1))


@pytest.mark.parametrize("count", [4, 5, 6])
def test_pips_are_symmetric(count: int) -> None:
    places = place_pips(count, half_width=3, half_height=2)
    assert len(places) == count
    assert {(-x, -y) for x, y in places} == set(places)


@given(st.lists(st.integers(1, 3), min_size=3, max_size=30))
@settings(max_examples=25)
def test_stripes_keep_their_relative_widths(widths: list[int]) -> None:
    edges = compute_boundaries(widths, 7)
    assert (edges[0], edges[-1]) == (0, 7)
    assert np.diff(edges) / edges[1] == pytest.approx(np.array(widths) / widths[0])


@pytest.mark.parametrize(
    ("slug", "beside"),
    [
        ("united-states", {12: 6, 13: 7, 14: 8}),
        ("malaysia", {13: 7, 14: 8, 15: 9}),
        ("liberia", {10: 5, 11: 5, 12: 5}),
        ("greece", {8: 5, 9: 5, 10: 5}),
        ("uruguay", {8: 5, 9: 5, 10: 5}),
    ],
)
def test_a_canton_ends_at_the_nearest_boundary_that_can_be_seen(
    slug: str, beside: dict[int, int]
) -> None:
    usual = FLAGS[slug].standards["stripes"]
    own = {"greece": "a", "uruguay": "a"}.get(slug, "canton")
    for count, stripes in beside.items():
        share = beside[usual] / usual
        assert count_canton_stripes(share, count, ("a", "b"), own) == stripes


@pytest.mark.parametrize("points", [5, 6])
def test_a_regular_star_has_straight_lines_from_point_to_point(points: int) -> None:
    outline = np.array(outline_star((1, 2), 3, points=points))
    (ax, ay), (bx, by) = outline[1] - outline[0], outline[3] - outline[0]
    assert ax * by == pytest.approx(ay * bx)


@given(COUNTS)
@settings(max_examples=20, deadline=None)
def test_any_union_reads_back(stars: int) -> None:
    assert measure(picture("united-states", 384, stars=stars), ["stars"]) == [stars]


@given(COUNTS)
@settings(max_examples=20, deadline=None)
def test_stars_of_any_ring_stay_apart(stars: int) -> None:
    yellow = picture("european-union", 1152, stars=stars)[..., 0] > 0x90
    assert ndimage.label(yellow, np.ones((3, 3)))[1] == stars


@given(st.integers(1, 40))
@settings(max_examples=20, deadline=None)
def test_rings_of_up_to_40_read_back(stars: int) -> None:
    assert measure(picture("european-union", 384, stars=stars), ["stars"]) == [stars]


@given(st.sampled_from(STRIPED), st.integers(3, 30))
@settings(max_examples=25, deadline=None)
def test_any_number_of_stripes_reads_back(slug: str, stripes: int) -> None:
    assert measure(picture(slug, 384, stripes=stripes), ["stripes"]) == [stripes]


def test_a_missing_and_an_extra_star_are_seen() -> None:
    for stars in (48, 49, 51, 52):
        assert measure(picture("united-states", 384, stars=stars), ["stars"]) != [50]
