"""The patterned grids against sources that are not ours."""

import unicodedata
from collections import deque
from importlib import import_module
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont

from generators.canvas import decode_png
from generators.domains.patterned_grids.dice import FACES
from generators.domains.patterned_grids.draw import draw, list_scenes
from generators.domains.patterned_grids.measure import measure
from generators.domains.patterned_grids.pattern import compute_count, list_cells


@pytest.mark.parametrize("cells", range(6, 13))
def test_the_pattern_is_the_distance_to_the_edge(cells):
    """Searched for step by step from outside the grid, instead of by formula."""
    distance = {}
    border = [c for c in list_cells(cells) if {0, cells - 1} & set(c)]
    queue = deque((cell, 1) for cell in border)
    while queue:
        (row, column), steps = queue.popleft()
        if (row, column) in distance:
            continue
        distance[row, column] = steps
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        inside = set(list_cells(cells)) & set(around)
        queue.extend((cell, steps + 1) for cell in inside)
    assert {cell: compute_count(*cell, cells) for cell in list_cells(cells)} == distance
    assert max(distance.values()) == -(-cells // 2)


def _outside_face(count):
    """Where the dots are on that face of DejaVu Sans's dice, as rows and columns of -1, 0, 1."""
    character = unicodedata.lookup(f"DIE FACE-{count}")
    font = TTFont(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"))
    glyphs, name = font.getGlyphSet(), font.getBestCmap()[ord(character)]
    pen, whole = DecomposingRecordingPen(glyphs), BoundsPen(glyphs)
    glyphs[name].draw(pen)
    glyphs[name].draw(whole)
    left, low, right, high = whole.bounds
    middle, reach = np.array([left + right, low + high]) / 2, (right - left) / 6
    dots, contour = set(), []
    for _, points in pen.value:
        contour += [point for point in points if point is not None]
        if not points:
            corners = np.array(contour)
            contour = []
            if np.ptp(corners[:, 0]) < (right - left) / 4:
                x, y = np.round((corners.min(0) + corners.max(0)) / 2 - middle, -1) / reach
                dots.add((-int(np.sign(np.round(y))), int(np.sign(np.round(x)))))
    return dots


@pytest.mark.parametrize("count", range(1, 7))
def test_faces_are_those_of_an_outside_die(count):
    """The faces of Unicode's dice as another font draws them; ours may be mirrored."""
    ours = {(row - 1, column - 1) for row, column in FACES[count]}
    mirrored = {(row, -column) for row, column in ours}
    assert _outside_face(count) in (ours, mirrored)


def test_an_independent_renderer_shows_the_same_counts():
    render = import_module("cairosvg").svg2png
    for scene in list_scenes(0)[::3]:
        png = render(bytestring=draw(scene, 768).encode())
        found = measure(decode_png(png), list(scene.truths))
        assert found == list(scene.truths.values()), scene.base_id
