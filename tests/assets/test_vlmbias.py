"""The graph on real images of one small topic: what is reused, what heals, what is refused."""

import importlib
import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.vlmbias.measurements import SEEN
from tests.runs import failure, materialize, metadata

TOPIC = "game_boards"
DRAWN = (28 + 4) * 1
TABLES = ("drawn_images", "original_images", "measurements", "questions", "answers/pixels")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    assert materialize(root, topic=TOPIC).success
    return root


@pytest.fixture
def root(made, tmp_path):
    """A copy of a data root in which the topic is materialized."""
    return shutil.copytree(made, tmp_path / "root")


def table(root, name):
    return root / "vlmbias" / name / f"{TOPIC}.parquet"


def image(root, digest):
    return root / "images" / digest[:2] / f"{digest}.png"


def checks(result):
    return {check.check_name: check.passed for check in result.get_asset_check_evaluations()}


def test_the_tables_hold_what_was_asked_for(made):
    images = pd.read_parquet(table(made, "drawn_images"))
    assert len(images) == images["image_id"].nunique() == 28
    assert set(images["size"]) == {384}
    assert (images[["width", "height"]].max(axis=1) == 384).all()
    questions = pd.read_parquet(table(made, "questions"))
    asked = questions[questions["variant"] == "counterfactual"]
    assert (asked.groupby("image_id")["question_id"].agg("".join) == "Q1Q2Q3").all()


def test_what_is_done_is_not_done_again(root):
    before = {name: table(root, name).read_bytes() for name in TABLES}
    again = materialize(root, topic=TOPIC)
    assert metadata(again, "drawn_images")["drawn_now"] == 0
    assert metadata(again, "original_images")["drawn_now"] == 0
    assert metadata(again, "measurements")["measured_now"] == 0
    assert {name: table(root, name).read_bytes() for name in TABLES} == before


def test_another_version_redraws_its_own_topic_alone(root, monkeypatch):
    other = "optical_illusions"
    assert materialize(root, "drawn_images", topic=other).success
    monkeypatch.setattr(importlib.import_module(f"generators.domains.{TOPIC}.draw"), "VERSION", "x")
    again = materialize(root, "drawn_images", topic=TOPIC)
    assert metadata(again, "drawn_images")["drawn_now"] == 28
    untouched = materialize(root, "drawn_images", topic=other)
    assert metadata(untouched, "drawn_images")["drawn_now"] == 0


def test_missing_and_damaged_images_are_drawn_again(root):
    before = table(root, "drawn_images").read_bytes()
    missing, damaged = pd.read_parquet(table(root, "drawn_images"))["sha256"][:2]
    image(root, missing).unlink()
    image(root, damaged).write_bytes(b"\x89PNG half of it")
    again = metadata(materialize(root, topic=TOPIC), "drawn_images")
    assert (again["healed"], again["drawn_now"]) == (2, 2)
    assert table(root, "drawn_images").read_bytes() == before
    assert image(root, damaged).stat().st_size > 100


def test_a_damaged_image_is_not_measured(root):
    digest = pd.read_parquet(table(root, "drawn_images"))["sha256"][0]
    image(root, digest).write_bytes(b"\x89PNG half of it")
    message = failure(materialize(root, "measurements", topic=TOPIC))
    assert digest in message
    assert "Materialize" in message


def test_a_damaged_table_is_named(root):
    table(root, "drawn_images").write_bytes(b"PAR1 half of it")
    message = failure(materialize(root, "measurements", topic=TOPIC))
    assert "drawn_images" in message
    assert "Materialize" in message


@pytest.mark.parametrize("size", [8, 4097])
def test_a_size_out_of_range_is_refused_before_anything_is_drawn(tmp_path, size):
    result = materialize(tmp_path, "drawn_images", topic=TOPIC, sizes=(384, size))
    message = failure(result)
    assert f"{TOPIC} cannot be drawn at {size} px" in message
    assert "4096" in message
    assert not (tmp_path / "images").exists()


def test_no_size_is_refused(tmp_path):
    assert "at least one" in failure(materialize(tmp_path, "drawn_images", topic=TOPIC, sizes=()))


def test_an_unknown_topic_is_refused(tmp_path):
    with pytest.raises(Exception, match="submarines"):
        materialize(tmp_path, "drawn_images", topic="submarines")


def test_images_of_two_seeds_are_not_mixed(root):
    assert materialize(root, "drawn_images", topic=TOPIC, seed=1).success
    message = failure(materialize(root, "questions", topic=TOPIC))
    assert "seed 0" in message
    assert "seed 1" in message


def rewrite(path, change):
    """Edit a stored table by hand."""
    rows = pq.read_table(path)
    pq.write_table(pa.Table.from_pylist(change(rows.to_pylist()), schema=rows.schema), path)


def test_measuring_reads_no_label(root):
    """Labels replaced by nonsense change no reading, and no blocking check lets them pass."""
    before = table(root, "measurements").read_bytes()
    assert not {"truths", "standards", "variant", "modification", "base_id"} & set(SEEN)
    rewrite(
        table(root, "drawn_images"),
        lambda rows: [row | {"truths": [truth + 1 for truth in row["truths"]]} for row in rows],
    )
    (root / "work.sqlite").unlink()
    result = materialize(root, "measurements", topic=TOPIC)
    assert table(root, "measurements").read_bytes() == before
    assert checks(result)["labels_agree"] is False
    assert not result.success


def test_one_wrong_label_stops_what_follows(root):
    rewrite(
        table(root, "drawn_images"),
        lambda rows: (
            [rows[0] | {"truths": [rows[0]["truths"][0] + 1, *rows[0]["truths"][1:]]}, *rows[1:]]
        ),
    )
    result = materialize(
        root, "measurements", "questions", "answers/prior", "answers/pixels", topic=TOPIC
    )
    assert checks(result)["labels_agree"] is False
    assert not result.success


def test_two_scenes_with_the_same_pixels_are_found(root):
    def copy_first(rows):
        copied = {key: rows[0][key] for key in ("sha256", "targets", "truths")}
        return [rows[0], rows[1] | copied, *rows[2:]]

    rewrite(table(root, "drawn_images"), copy_first)
    assert checks(materialize(root, "measurements", topic=TOPIC))["scenes_differ"] is False


def test_a_wrong_truth_in_words_is_found(root):
    rewrite(
        table(root, "questions"),
        lambda rows: [rows[0] | {"ground_truth": "99"}, *rows[1:]],
    )
    result = materialize(root, "answers/pixels", topic=TOPIC)
    assert checks(result) == {"truths_hold": False}


def test_answers_to_other_questions_are_refused(root):
    rewrite(table(root, "questions"), lambda rows: rows[1:])
    message = failure(materialize(root, "accuracy"))
    assert "answers other questions" in message


def test_nothing_to_score_is_said(tmp_path):
    assert "No judge has answered yet" in failure(materialize(tmp_path, "accuracy"))
