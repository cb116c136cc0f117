"""The graph on real images of one small topic: what is made, what is reused, what heals."""

import importlib

import pandas as pd
import pytest

from generators.domains import load_domain
from tests.runs import (
    TOPIC,
    checks,
    failure,
    image,
    materialize,
    materialized,
    metadata,
    rewrite,
    table,
)

OTHER = "optical_illusions"
DRAWN, ORIGINALS = 5, 2
TABLES = ("drawn_images", "original_images", "measurements", "questions", "answers_pixels")


def contents(root):
    return {name: table(root, name).read_bytes() for name in TABLES}


def work(result):
    """How much a run drew and measured, of each asset of images that it made."""
    counts = {"drawn_images": "drawn_now", "original_images": "drawn_now"}
    counts |= {"measurements": "measured_now"}
    return {name: metadata(result, name)[counts[name]] for name in counts}


def test_the_tables_hold_what_was_asked_for(made):
    images = pd.read_parquet(table(made, "drawn_images"))
    assert len(images) == images["image_id"].nunique() == DRAWN
    assert set(images["size"]) == {384}
    assert (images[["width", "height"]].max(axis=1) == 384).all()
    questions = pd.read_parquet(table(made, "questions"))
    asked = questions[questions["variant"] == "counterfactual"]
    assert (asked.groupby("image_id")["question_id"].agg("".join) == "Q1Q2Q3").all()
    assert set(questions["seed"]) == {0}


def test_what_is_done_is_not_done_again(root):
    before = contents(root)
    again = materialize(root, topic=TOPIC)
    assert work(again) == {"drawn_images": 0, "original_images": 0, "measurements": 0}
    assert contents(root) == before


@pytest.fixture
def other_version(monkeypatch):
    monkeypatch.setattr(importlib.import_module(f"generators.domains.{TOPIC}.draw"), "VERSION", "x")


@pytest.fixture
def other_code(monkeypatch):
    monkeypatch.setitem(vars(load_domain(TOPIC)), "fingerprint", "of a changed file")


@pytest.mark.parametrize("change", ["other_version", "other_code"])
def test_a_change_redraws_its_own_topic_alone(root, change, request):
    assert materialize(root, "drawn_images", topic=OTHER).success
    request.getfixturevalue(change)
    again = materialize(root, "drawn_images", topic=TOPIC)
    assert metadata(again, "drawn_images")["drawn_now"] == DRAWN
    untouched = materialize(root, "drawn_images", topic=OTHER)
    assert metadata(untouched, "drawn_images")["drawn_now"] == 0


def test_changed_code_measures_again(root, other_code):
    again = materialize(root, "measurements", topic=TOPIC)
    assert metadata(again, "measurements")["measured_now"] == DRAWN + ORIGINALS


def test_missing_and_damaged_images_are_drawn_again(root):
    before = contents(root)
    missing, damaged = pd.read_parquet(table(root, "drawn_images"))["sha256"][:2]
    image(root, missing).unlink()
    image(root, damaged).write_bytes(b"\x89PNG half of it")
    again = metadata(materialize(root, topic=TOPIC), "drawn_images")
    assert (again["healed"], again["drawn_now"]) == (2, 2)
    assert contents(root) == before
    assert image(root, damaged).stat().st_size > 100


def test_images_that_are_drawn_otherwise_than_before_are_listed(root):
    def with_another(rows):
        return [rows[0] | {"sha256": "0" * 64}, *rows[1:]]

    rewrite(table(root, "drawn_images"), with_another)
    changed = pd.read_parquet(table(root, "drawn_images"))["image_id"][0]
    again = metadata(materialize(root, "drawn_images", topic=TOPIC), "drawn_images")
    assert again["changed"] == 1
    assert again["changed_images"] == f"| image_id |\n| --- |\n| {changed} |"
    again = metadata(materialize(root, "drawn_images", topic=TOPIC), "drawn_images")
    assert again["changed"] == 0


def test_a_damaged_work_cache_costs_work_and_nothing_else(root):
    before = contents(root)
    for part in root.glob("work.sqlite*"):
        part.write_bytes(b"this is no database" * 999)
    again = materialize(root, topic=TOPIC)
    assert again.success, failure(again)
    drawn = {"drawn_images": DRAWN, "original_images": ORIGINALS}
    assert work(again) == drawn | {"measurements": DRAWN + ORIGINALS}
    assert contents(root) == before


def test_random_takes_its_seed_from_the_questions(root):
    """Config of a later run is not what the images were drawn with."""
    before = table(root, "answers_random").read_bytes()
    assert materialize(root, "answers_random", topic=TOPIC, seed=5).success
    assert table(root, "answers_random").read_bytes() == before


def test_accuracy_and_report_are_made_of_what_there_is(root):
    result = materialize(root)
    assert result.success, failure(result)
    assert materialized(result) == {"accuracy", "report"}
    assert metadata(result, "report")["images"] == DRAWN + ORIGINALS
    assert not checks(result)
