"""Questions for comparing two entries of a model."""

from types import SimpleNamespace

import pandas as pd
import pytest
from dagster import AssetKey

from assets.kit import comparison_items
from assets.kit.comparison_items import choose_items
from assets.kit.yes_no import YesNoQuestion, YesNoTable
from resources.storage.image_store import ImageStore

SIZES, SCENES = (384, 768), 30


def to_questions(row):
    for number in range(3):
        yield YesNoQuestion(
            name=f"{row['image_id']}/{number}",
            image_id=row["image_id"],
            sha256=row["sha256"],
            question="",
            kind="count",
            truth="5",
            familiar_answer="4",
            topic="animals",
            is_stand_in=False,
            full_question=f"{row['image_id']}: question {number}",
        )


@pytest.mark.parametrize("count", [7, 200])
def test_of_a_scene_one_question_is_asked_whatever_its_size(monkeypatch, tmp_path, count):
    images = ImageStore(root=str(tmp_path))
    rows = pd.DataFrame(
        {"image_id": f"scene-{scene}/{size}", "sha256": images.put(f"{scene}/{size}".encode())}
        for scene in range(SCENES)
        for size in SIZES
    )
    table = YesNoTable(
        asset=AssetKey(["made", "questions"]),
        columns=None,
        partitions=["animals"],
        to_questions=to_questions,
        base_picture=lambda image_id: image_id.partition("/")[0],
    )
    benchmarks = {"made": SimpleNamespace(yes_no_tables=[table])}
    monkeypatch.setattr(comparison_items, "load_benchmarks", lambda: benchmarks)
    home = SimpleNamespace(find=lambda asset, partition: rows, holds=lambda *key: True)
    items = choose_items(home, images, count).items
    scenes = [item.question.partition("/")[0] for item in items]
    assert len(items) == min(count, SCENES)
    assert len({*scenes}) == len(items)
    assert len({item.question.partition("/")[2] for item in items}) == len(SIZES) * 3


def test_scenes_that_are_drawn_are_asked_about_once(monkeypatch, tmp_path):
    monkeypatch.setattr(comparison_items, "load_benchmarks", dict)
    items = choose_items(None, ImageStore(root=str(tmp_path)), 20).items
    assert len({item.sha256 for item in items}) == 20
    assert {item.kind for item in items} == {"count", "yes/no"}
