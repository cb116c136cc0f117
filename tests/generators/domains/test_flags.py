import hashlib
import re
from collections import Counter
from math import dist

import numpy as np
import pytest

from generators.canvas import decode_png, rasterise
from generators.domains.flags import TITLE
from generators.domains.flags.ask import parse_question, write_questions
from generators.domains.flags.designs import FLAGS
from generators.domains.flags.draw import (
    GROUND,
    build_counterfactual,
    build_original,
    draw,
    list_scenes,
)
from generators.reading import Pixels
from generators.scene import Question, Scene

STANDARDS = {
    "the United States": {"stars": 50, "stripes": 13},
    "the European Union": {"stars": 12},
    "China": {"stars": 5},
    "Australia": {"stars": 6},
    "New Zealand": {"stars": 4},
    "Venezuela": {"stars": 8},
    "Honduras": {"stars": 5},
    "Cape Verde": {"stars": 10},
    "Micronesia": {"stars": 4},
    "the Solomon Islands": {"stars": 5},
    "Singapore": {"stars": 5},
    "Samoa": {"stars": 5},
    "Burundi": {"stars": 3},
    "Malaysia": {"stripes": 14},
    "Greece": {"stripes": 9},
    "Liberia": {"stripes": 11},
    "Uruguay": {"stripes": 9},
    "Cuba": {"stripes": 5},
    "Thailand": {"stripes": 5},
}
SCENES = list_scenes(0)
GOLDEN = {
    "united-states-stars-add": "b4977b52325278979750769cfe7af0e4873f5673def2167e0fb9c30640f133ff",
    "greece-stripes-remove": "e810b9e512cf8b117bf986048b0ec9da11f6c087aef488b8de30c7a0c6348337",
    "new-zealand": "ca30e3189470c7cff4d174ae32407973fda39fd775c3c4d3f3017671373ed8c5",
    "uruguay": "4c33c5e167da4e3d4e0e49b5a0d2f5fa31d2af7052d96b246a62eefcfa9f4e70",
}


def pixels(scene: Scene, size: int = 384) -> Pixels:
    return decode_png(rasterise(draw(scene, size)))


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def asked(scene: Scene) -> list[Question]:
    return [
        question
        for question in write_questions(scene)
        if question.question_id in ("Q1", "Q2", "Q3")
    ]


def answers(scene: Scene) -> dict[str, tuple[str, str]]:
    return {q.text: (q.ground_truth, q.expected_bias) for q in asked(scene)}


def answer(question: Question, readings: dict[str, float]) -> str:
    inquiry = parse_question(f"Look closely. {question.text} Thank you.")
    assert inquiry is not None
    return inquiry.answer([readings[target] for target in inquiry.targets])


def test_there_are_40_counterfactuals_and_19_originals() -> None:
    assert TITLE == "Flags"
    assert Counter(s.image_set for s in SCENES) == {"benchmark": 40, "originals": 19}
    assert Counter((s.subtopic, s.modification) for s in SCENES[:40]) == {
        ("stars", "add"): 13,
        ("stars", "remove"): 13,
        ("stripes", "add"): 7,
        ("stripes", "remove"): 7,
    }
    assert len({s.base_id for s in SCENES}) == 59
    assert {s.original_id for s in SCENES[:40]} == {s.base_id for s in SCENES[40:]}


def test_standards_are_those_of_the_real_flags() -> None:
    assert {flag.name: flag.standards for flag in FLAGS.values()} == STANDARDS
    for scene in SCENES[40:]:
        assert scene.truths == scene.standards


def test_a_counterfactual_differs_from_its_original_by_one_in_its_target_alone() -> None:
    for scene in SCENES[:40]:
        step = {"add": 1, "remove": -1}[scene.modification]
        assert scene.truths == {
            **scene.standards,
            scene.target: scene.standards[scene.target] + step,
        }


def test_ids_are_readable() -> None:
    assert SCENES[0].image_id(768) == "flags/united-states-stars-add/768"
    assert SCENES[0].original_id == SCENES[40].base_id == "flags/united-states"
    assert {"flags/solomon-islands-stars-remove", "flags/thailand-stripes-add"} < {
        s.base_id for s in SCENES
    }


def test_every_seed_gives_the_same_scenes_and_the_same_bytes() -> None:
    assert list_scenes(0) == list_scenes(1)
    assert [draw(s, 384) for s in list_scenes(2)] == [draw(s, 384) for s in SCENES]


def test_questions_are_the_papers_letter_for_letter() -> None:
    number, yes_or_no = (
        "Answer with a number in curly brackets, e.g., {9}.",
        "Answer in curly brackets, e.g., {Yes} or {No}.",
    )
    assert answers(build_counterfactual("solomon-islands", "stars", "add")) == {
        f"How many stars are there on this flag? {number}": ("6", "5"),
        f"Count the stars on this flag. {number}": ("6", "5"),
        f"Is this the flag of the Solomon Islands? {yes_or_no}": ("No", "Yes"),
    }
    assert answers(build_counterfactual("united-states", "stripes", "remove")) == {
        f"How many stripes are there on this flag? {number}": ("12", "13"),
        f"Count the stripes on this flag. {number}": ("12", "13"),
        f"Is this the flag of the United States? {yes_or_no}": ("No", "Yes"),
    }
    assert answers(build_original("united-states")) == {
        f"How many stars are there on this flag? {number}": ("50", "50"),
        f"Count the stars on this flag. {number}": ("50", "50"),
        f"How many stripes are there on this flag? {number}": ("13", "13"),
        f"Count the stripes on this flag. {number}": ("13", "13"),
        f"Is this the flag of the United States? {yes_or_no}": ("Yes", "Yes"),
    }


def test_an_original_is_asked_what_its_counterfactuals_are() -> None:
    for scene in SCENES[40:]:
        of_counterfactuals = {
            q.text for s in SCENES[:40] if s.original_id == scene.base_id for q in asked(s)
        }
        assert [q.text for q in asked(scene)] == list(answers(scene))
        assert answers(scene).keys() == of_counterfactuals


@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.base_id)
def test_what_is_understood_of_a_question_answers_it(scene: Scene) -> None:
    for question in asked(scene):
        assert answer(question, dict(scene.truths)) == question.ground_truth
        assert answer(question, dict(scene.standards)) == question.expected_bias


@pytest.mark.parametrize(
    "prompt", ["How many rows are there on this board?", "Is this the flag of France?", ""]
)
def test_other_prompts_are_not_understood(prompt: str) -> None:
    assert parse_question(prompt) is None


@pytest.mark.parametrize("size", [384, 768, 1152, 1000])
def test_a_flag_lies_in_the_middle_of_plain_ground(size: int) -> None:
    image = pixels(build_original("venezuela"), size)
    rows, columns = np.nonzero((image != rgb(GROUND)).any(axis=2))
    assert image.shape[1] == size > image.shape[0]
    margins = rows.min(), image.shape[0] - 1 - rows.max(), columns.min(), size - 1 - columns.max()
    assert set(margins) == {round(size / 24)}


def test_no_flag_has_a_colour_near_the_ground() -> None:
    for scene in SCENES[40:]:
        colours = set(re.findall(r'fill="(#\w{6})"', draw(scene, 384))) - {GROUND}
        assert len(colours) > 1
        assert all(dist(rgb(colour), rgb(GROUND)) > 90 for colour in colours)


@pytest.mark.parametrize("slug", ["malaysia", "greece", "liberia", "uruguay"])
def test_what_a_canton_carries_stays_in_its_middle(slug: str) -> None:
    usual = _off_the_middle(build_original(slug))
    for change in ("add", "remove"):
        assert abs(_off_the_middle(build_counterfactual(slug, "stripes", change)) - usual) <= 1


def _off_the_middle(scene: Scene) -> float:
    """How far below the middle of the canton the emblem stands, in px, from the pixels alone."""
    flag = pixels(scene, 768)[32:-32, 32:-32]
    field = flag[2, 2]
    below = (flag[:, 2] == field).all(axis=1)
    if scene.settings["flag"] == "greece":
        # The cross reaches the edge: the canton ends where the white stripe below it begins.
        white = np.flatnonzero(~below)
        arm = white[np.flatnonzero(np.diff(white) > 1)[0]] + 1
        return (white[0] + arm) / 2 - white[np.flatnonzero(np.diff(white) > 1)[0] + 1] / 2
    height = int(np.argmin(below))
    inside = (flag[:height, : height * 9 // 10] != field).any(axis=(1, 2))
    rows = np.flatnonzero(inside)
    return float((rows[0] + rows[-1] + 1) / 2 - height / 2)


def test_a_question_says_where_the_flag_was_once_in_force() -> None:
    disputable = {
        scene.base_id: question.disputable
        for scene in SCENES
        for question in write_questions(scene)
        if question.disputable
    }
    assert disputable == {
        "flags/united-states-stars-remove": "This was the flag of the United States, 1959 to 1960.",
        "flags/venezuela-stars-remove": "This was the flag of Venezuela, 1930 to 2006.",
        "flags/samoa-stars-remove": "This was the flag of Samoa, 1948 to 1949.",
    }


@pytest.mark.parametrize("name", GOLDEN)
def test_pixels_stay_as_they_were_released(name: str) -> None:
    scene = next(s for s in SCENES if s.base_id == f"flags/{name}")
    assert hashlib.sha256(pixels(scene).tobytes()).hexdigest() == GOLDEN[name]
