"""Our figures against the numbers of Pyllusion, which knows nothing of our layout."""

from importlib import import_module

import numpy as np
import pytest

from generators.domains.optical_illusions.ask import EQUAL_BELOW
from generators.domains.optical_illusions.draw import list_scenes, list_shapes
from tests.generators.domains.samples import readings

SCENES = list_scenes(0)
CLASSES = {
    "Ebbinghaus": "Ebbinghaus",
    "Müller-Lyer": "MullerLyer",
    "Ponzo": "Ponzo",
    "Zöllner": "Zollner",
    "Poggendorff": "Poggendorff",
}


def of(subject):
    return [scene for scene in SCENES if scene.subject == subject]


def theirs(scene):
    strength, difference = (scene.settings[name] for name in ("strength", "difference"))
    # Imported by a test: all of them are collected by each process that runs some.
    drawn_by = getattr(import_module("pyllusion"), CLASSES[scene.subject])
    figure = drawn_by(illusion_strength=strength, difference=difference)
    return figure.get_parameters()


def ends(parameters, name):
    return [(parameters[f"{name}_x{i}"], parameters[f"{name}_y{i}"]) for i in (1, 2)]


def slope(points):
    (x1, y1), (x2, y2) = points
    return np.degrees(np.arctan((y2 - y1) / (x2 - x1)))


def difference_by_their_numbers(scene):
    """What a figure with Pyllusion's parameters shows, from its sizes and coordinates."""
    p = theirs(scene)
    match scene.subject:
        case "Ebbinghaus":
            return (p["Size_Inner_Left"] / p["Size_Inner_Right"]) ** 2 - 1
        case "Müller-Lyer" | "Ponzo":
            return p["Size_Top"] / p["Size_Bottom"] - 1
        case "Zöllner":
            return slope(ends(p, "Top")) - slope(ends(p, "Bottom"))
        case "Poggendorff":
            return p["Right_y1"] - p["Left_y1"]


@pytest.mark.parametrize("subject", CLASSES)
def test_pixels_show_the_difference_that_their_numbers_make(subject):
    for scene in of(subject):
        expected = difference_by_their_numbers(scene)
        assert scene.truths[scene.target] == pytest.approx(expected, abs=1e-9), scene.base_id
        found = readings(scene)[scene.target]
        assert found == pytest.approx(expected, abs=EQUAL_BELOW[subject] / 5), scene.base_id


def test_ebbinghaus_has_their_sizes_numbers_and_sides():
    for scene in of("Ebbinghaus"):
        p, discs = theirs(scene), list(list_shapes(scene))
        left = [disc.diameter for disc in discs if disc.centre[0] < 0]
        right = [disc.diameter for disc in discs if disc.centre[0] > 0]
        for side, (inner, *outer) in (("Left", left), ("Right", right)):
            assert inner == p[f"Size_Inner_{side}"]
            assert set(outer) == {p[f"Size_Outer_{side}"]}
            assert len(outer) == len(p[f"Position_Outer_x_{side}"])


def test_mullerlyer_has_their_coordinates():
    for scene in of("Müller-Lyer"):
        p, figure = theirs(scene), list(list_shapes(scene))
        for i, line in ((0, "Top"), (3, "Bottom")):
            assert list(figure[i].points) == ends(p, line)
            for j, end in ((1, "Left"), (2, "Right")):
                vertex, tip = ends(p, f"Distractor_{line}{end}1")
                assert figure[i + j].points[:2] == (tip, vertex)


def test_ponzo_has_their_lengths_and_angles():
    for scene in of("Ponzo"):
        p = theirs(scene)
        top, bottom, left, right = list_shapes(scene)
        assert [bar.box[2] - bar.box[0] for bar in (top, bottom)] == [
            p["Size_Top"],
            p["Size_Bottom"],
        ]
        assert slope(left.points) == pytest.approx(slope(ends(p, "Left")))
        assert slope(right.points) == pytest.approx(slope(ends(p, "Right")))


def test_zollner_has_their_strokes_and_slopes():
    for scene in of("Zöllner"):
        p, figure = theirs(scene), list(list_shapes(scene))
        for i, line in ((0, "Top"), (9, "Bottom")):
            assert slope(figure[i].points) == pytest.approx(slope(ends(p, line)))
            strokes = np.array([stroke.points for stroke in figure[i + 1 : i + 9]])
            for end in (0, 1):
                name = f"Distractors_{line}"
                assert np.array_equal(strokes[:, end, 0], p[f"{name}_x{end + 1}"])
                assert np.array_equal(strokes[:, end, 1], p[f"{name}_y{end + 1}"])


def test_poggendorff_departs_only_where_they_mirror_the_slope():
    for scene in of("Poggendorff"):
        p, (left, right, rectangle) = theirs(scene), list_shapes(scene)
        mirrored = -1 if scene.settings["difference"] < 0 else 1
        for line, name in ((left, "Left"), (right, "Right")):
            assert slope(line.points) == pytest.approx(mirrored * slope(ends(p, name)))
        assert right.points[0][1] == p["Right_y1"]
        assert rectangle.box[2] == p["Rectangle_Width"] / 2
        assert rectangle.box[3] == p["Rectangle_Height"] / 2


def test_labels_depart_from_theirs_in_zollner_alone():
    for scene in SCENES[66:]:
        if scene.subject in CLASSES:
            agrees = theirs(scene)["Illusion_Type"].lower() == scene.modification
            assert agrees == (scene.subject != "Zöllner"), scene.base_id
