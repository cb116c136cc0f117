"""The numbers of stand-ins in docs/illusions.md, computed again from the pictures."""

import re
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest

from assets.illusions.answers import STAND_IN_ANSWERS, list_questions, read_reply
from generators.domains import load_domain
from generators.domains.optical_illusions.control_jobs import (
    DifferenceJob,
    draw_control_png,
    read_difference,
)
from generators.domains.optical_illusions.controls import find_controls
from generators.worker_jobs import DrawJob, draw_png
from metrics.illusions.polarity import polarity_table

pytestmark = pytest.mark.slow
SIZE = 768
MEASURES = ("right_equal", "right_different", "turns", "consistent", "consistent_right")


def test_the_table_of_stand_ins_is_what_they_answer():
    scenes = {s.base_id: s for s in load_domain("optical_illusions").draw_module.list_scenes(0)}
    control_of = find_controls(list(scenes.values()), SIZE)
    shown = [(scene, False) for scene in scenes.values()]
    shown += [(scenes[name], True) for name in {s.base_id: None for s in control_of.values()}]
    assert len(shown) == 132 + 86
    pictures = []
    for scene, is_control in shown:
        draw = draw_control_png if is_control else draw_png
        png = draw(DrawJob("optical_illusions", scene, SIZE))
        original = control_of[scene.original_id] if is_control else scenes[scene.original_id]
        pictures.append(
            {
                "picture_id": f"{scene.base_id} {is_control}",
                "pair_id": f"{original.base_id} {is_control}",
                "scene_id": scene.base_id,
                "sha256": sha256(png).hexdigest(),
                "illusion": scene.subject,
                "inducer": "without" if is_control else "with",
                "is_equal": scene.variant == "original",
                "measured": read_difference(DifferenceJob(png, scene.target, is_control))[0],
            }
        )
    questions = list_questions(pictures)
    answers = pd.DataFrame(
        {**question, "model": model, **read_reply({**question, **answer(question, None)})}
        for model, answer in STAND_IN_ANSWERS.items()
        for question in questions
    )
    table = polarity_table(answers).query("illusion == 'all' and inducer == 'with'")
    values = table.set_index(["model", "measure"])["value"]
    page = (Path(__file__).parents[3] / "docs" / "illusions.md").read_text()
    for model in STAND_IN_ANSWERS:
        (row,) = re.findall(rf"^\| `{model}`.*", page, re.MULTILINE)
        cells = [cell.strip() for cell in row.split("|")][2:-1]
        expected = [f"{100 * values[model, measure]:.1f} %" for measure in MEASURES]
        expected += [f"{values[model, 'multiplier']:.2f}"]
        assert cells == expected
