"""Controls of illusions: the compared parts where the figure has them, and nothing else."""

from functools import cache
from hashlib import sha256

import numpy as np
import pytest
from PIL import Image

from generators.canvas import decode_png
from generators.domains.optical_illusions.control_jobs import (
    DifferenceJob,
    draw_control_png,
    read_difference,
)
from generators.domains.optical_illusions.control_readings import measure_control
from generators.domains.optical_illusions.controls import find_controls
from generators.domains.optical_illusions.draw import list_scenes
from generators.domains.optical_illusions.illusion_scenes import TARGETS, VERTICAL_HORIZONTAL
from generators.domains.optical_illusions.measure import TOLERANCE, measure
from generators.reading import Unreadable
from generators.worker_jobs import DrawJob
from tests.generators.domains.samples import DISTURBANCES, SIZE, picture

SCENES = {scene.base_id: scene for scene in list_scenes(0)}
RELEASED = "8a69c9143cdab6ce948bc18ac034c87df71763c4752b71697a4c27684a62e364"
"""sha256 of the PNGs of all controls as they were first released, one after the other."""


@cache
def draw_png(name, size=SIZE):
    return draw_control_png(DrawJob("optical_illusions", SCENES[name], size))


@pytest.fixture(scope="module")
def controls():
    """The control of each scene, by the scene that it is named by."""
    controls = find_controls(list(SCENES.values()), SIZE).values()
    distinct = dict.fromkeys(scene.base_id for scene in controls)
    return {name: draw_png(name) for name in distinct}


def error(pixels, scene):
    """How far a reading is from the truth, as a share of what is tolerated."""
    reading = measure_control(pixels, scene.target)
    return abs(reading - scene.truths[scene.target]) / TOLERANCE[scene.target]


def test_all_are_what_was_released(controls):
    assert sha256(b"".join(controls.values())).hexdigest() == RELEASED


def test_each_is_there_once_and_scenes_that_share_one_have_one_truth(controls):
    assert len({decode_png(png).tobytes() for png in controls.values()}) == len(controls) == 88
    for name, control in find_controls(list(SCENES.values()), SIZE).items():
        assert SCENES[name].truths == control.truths
        assert SCENES[name].subject == control.subject
    # Fins alone part Müller-Lyer's scenes: 12 originals have one control, 12 others three.
    shared = find_controls([s for s in SCENES.values() if s.subject == "Müller-Lyer"], 768)
    assert len({control.base_id for control in shared.values()}) == 4


def test_the_truth_is_read_from_every_control(controls):
    for name, png in controls.items():
        assert error(decode_png(png), SCENES[name]) < 0.3, name


@pytest.mark.parametrize("disturbance", DISTURBANCES)
def test_a_disturbed_control_reads_as_drawn(controls, disturbance):
    for name in [*controls][::15]:
        shown = Image.fromarray(decode_png(draw_png(name, 768)))
        assert error(np.asarray(DISTURBANCES[disturbance](shown)), SCENES[name]) < 0.3, name


def test_the_compared_parts_are_the_pixels_of_the_figure(controls):
    for name, control in [*find_controls(list(SCENES.values()), SIZE).items()][::4]:
        figure, alone = picture(SCENES[name]), decode_png(controls[control.base_id])
        assert figure.shape == alone.shape
        if control.subject != VERTICAL_HORIZONTAL:
            # Strokes that cross at an edge may darken its pixels.
            assert (alone >= figure).all(), name
            assert (figure < 128).sum() > (alone < 128).sum(), name


def test_the_inverted_t_has_the_same_ink_apart(controls):
    for name in (name for name in controls if SCENES[name].subject == VERTICAL_HORIZONTAL):
        figure, alone = picture(SCENES[name]), decode_png(controls[name])
        pen = SIZE // 128
        # The vertical's foot, half a pen of it, lay in the horizontal.
        freed = (alone < 128)[:, :, 0].sum() - (figure < 128)[:, :, 0].sum()
        assert 0 < freed <= pen * pen, name
        assert (alone.min(axis=(0, 2)) == 255)[[0, 1, -2, -1]].all(), "inside the canvas"


def test_neither_reader_takes_the_other_kind(controls):
    for name, png in [*controls.items()][::8]:
        scene = SCENES[name]
        with pytest.raises(Unreadable):
            measure(decode_png(png), [scene.target])
        if scene.subject not in ("Müller-Lyer", "Zöllner"):
            with pytest.raises(Unreadable):
                measure_control(picture(scene), scene.target)


def test_a_problem_is_told_and_never_a_number(controls):
    blank = np.full((SIZE, SIZE, 3), 255, np.uint8)
    for target in TARGETS.values():
        with pytest.raises(Unreadable, match="0 pieces"):
            measure_control(blank, target)
    discs = controls["optical_illusions/ebbinghaus-strength-3"]
    level = controls["optical_illusions/ponzo-strength-15"]
    with pytest.raises(Unreadable, match="unicorns"):
        measure_control(decode_png(level), "unicorns")
    for png, target in ((discs, TARGETS["Ponzo"]), (level, TARGETS["Ebbinghaus"])):
        reading, problem = read_difference(DifferenceJob(png, target, is_control=True))
        assert reading is None
        assert problem.startswith("There is ink that is no")
