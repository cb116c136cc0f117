"""What a run refuses, in words that name the thing and the remedy, and what it leaves alone."""

import importlib
import re

import pandas as pd
import pytest

from resources.settings.locations import find_data_root
from tests.runs import TOPIC, failure, image, materialize, rewrite, table


def test_a_damaged_image_is_not_measured(root):
    digest = pd.read_parquet(table(root, "drawn_images"))["sha256"][0]
    image(root, digest).write_bytes(b"\x89PNG half of it")
    message = failure(materialize(root, "measurements", topic=TOPIC))
    assert digest in message
    assert "Materialize" in message


def test_a_damaged_table_is_named(root):
    table(root, "drawn_images").write_bytes(b"PAR1 half of it")
    message = failure(materialize(root, "measurements", topic=TOPIC))
    assert f"{table(root, 'drawn_images')} cannot be read" in message
    assert f"Materialize vlmbias/drawn_images ({TOPIC}) again" in message


def test_a_missing_table_is_named(root):
    table(root, "drawn_images").unlink()
    message = failure(materialize(root, "measurements", topic=TOPIC))
    assert f"{table(root, 'drawn_images')} is not there" in message
    assert f"Materialize vlmbias/drawn_images ({TOPIC}) again" in message


def test_a_torn_table_over_all_topics_is_named(root):
    assert materialize(root, "accuracy").success
    torn = root / "vlmbias" / "accuracy.parquet"
    torn.write_bytes(torn.read_bytes()[:-100])
    message = failure(materialize(root, "report"))
    assert f"{torn} cannot be read" in message
    assert "Materialize vlmbias/accuracy" in message


@pytest.mark.parametrize("size", [8, 4097])
def test_a_size_out_of_range_is_refused_before_anything_is_drawn(tmp_path, size):
    result = materialize(tmp_path, "drawn_images", topic=TOPIC, sizes=(384, size))
    message = failure(result)
    assert f"{TOPIC} cannot be drawn at {size} px" in message
    assert "4096" in message
    assert not (tmp_path / "images").exists()


def test_no_size_is_refused(tmp_path):
    assert "at least one" in failure(materialize(tmp_path, "drawn_images", topic=TOPIC, sizes=()))


@pytest.mark.parametrize("seed", ["seven", 2.5])
def test_a_seed_that_is_no_whole_number_is_refused(tmp_path, seed):
    with pytest.raises(Exception, match="seed"):
        materialize(tmp_path, "drawn_images", topic=TOPIC, seed=seed)


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1, 10**400], ids=["above", "below", "far"])
def test_a_seed_that_no_column_holds_is_refused_before_anything_is_drawn(tmp_path, seed):
    message = failure(materialize(tmp_path, "drawn_images", topic=TOPIC, seed=seed))
    assert re.search(r"seed: -?\d+ should be (less|greater) than .*922337203685477", message)
    assert not (tmp_path / "images").exists()


@pytest.mark.parametrize("seed", [2**63 - 1, -(2**63)])
def test_the_largest_seeds_are_drawn(tmp_path, seed):
    result = materialize(tmp_path, "original_images", topic=TOPIC, seed=seed)
    assert result.success, failure(result)
    assert set(pd.read_parquet(table(tmp_path, "original_images"))["seed"]) == {seed}


def test_an_unknown_topic_is_refused(tmp_path):
    result = materialize(tmp_path, "drawn_images", topic="submarines")
    assert not result.success
    assert "submarines" in failure(result)


def test_a_data_root_that_is_a_link_to_nothing_is_refused(monkeypatch, tmp_path):
    (tmp_path / "data").symlink_to(tmp_path / "not mounted")
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path / "data"))
    with pytest.raises(ValueError, match="not mounted, which is not there"):
        find_data_root()


def test_a_data_root_that_is_a_file_is_refused(monkeypatch, tmp_path):
    (tmp_path / "data").touch()
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path / "data"))
    with pytest.raises(ValueError, match="data, which is a file: set it to a folder"):
        find_data_root()


@pytest.mark.parametrize("calls", ["", "sqlite:////folder/calls.sqlite"])
def test_an_object_store_without_a_database_server_is_refused(monkeypatch, calls):
    monkeypatch.setenv("COUNTERFACTORY_HOME", "s3://bucket/counterfactory")
    monkeypatch.setenv("COUNTERFACTORY_CALLS", calls)
    with pytest.raises(ValueError, match=r"COUNTERFACTORY_HOME is s3://bucket.*postgresql://"):
        find_data_root()


class TestTablesThatDoNotBelongTogether:
    @pytest.mark.parametrize("other", [{"seed": 1}, {"sizes": (384, 400)}, {"sizes": (400,)}])
    def test_images_drawn_otherwise_than_their_originals(self, root, other):
        assert materialize(root, "drawn_images", topic=TOPIC, **other).success
        message = failure(materialize(root, "questions", topic=TOPIC))
        assert "Mismatch" in message
        (what,) = other
        assert f"differ in {what.rstrip('s') if what == 'sizes' else what}" in message
        assert "Materialize drawn_images and original_images together" in message

    def test_images_of_another_rasteriser(self, root):
        rewrite(
            table(root, "original_images"),
            lambda rows: [row | {"rasteriser": "another 1.0"} for row in rows],
        )
        message = failure(materialize(root, "questions", topic=TOPIC))
        assert "Mismatch" in message
        assert "rasteriser" in message
        assert "another 1.0" in message

    def test_images_of_an_older_version(self, root, monkeypatch):
        drawing = importlib.import_module(f"generators.domains.{TOPIC}.draw")
        before = drawing.VERSION
        monkeypatch.setattr(drawing, "VERSION", "newer")
        message = failure(materialize(root, "questions", topic=TOPIC))
        assert "Mismatch" in message
        assert f"version {before}" in message
        assert "version newer" in message

    def test_measurements_of_other_images(self, root):
        """Drawn anew at another size and not measured since."""
        for name in ("drawn_images", "original_images"):
            assert materialize(root, name, topic=TOPIC, sizes=(400,)).success
        message = failure(materialize(root, "questions", topic=TOPIC))
        assert "Unverified" in message

    @pytest.mark.parametrize("name", ["accuracy", "report"])
    def test_answers_to_other_questions(self, root, name):
        assert materialize(root, "accuracy").success
        rewrite(table(root, "questions"), lambda rows: rows[1:])
        message = failure(materialize(root, name))
        assert "Mismatch" in message
        assert "answers other questions" in message
        assert re.search(rf"Materialize vlmbias/answers_\w+ for {TOPIC} again", message)

    def test_answers_without_a_column_are_named_and_made_again(self, root):
        stored = table(root, "answers_prior")
        pd.read_parquet(stored).drop(columns=["refusal", "accepted"]).to_parquet(stored)
        message = failure(materialize(root, "accuracy"))
        assert f"Materialize vlmbias/answers_prior ({TOPIC}) again" in message
        assert materialize(root, "answers_prior", topic=TOPIC).success
        assert materialize(root, "accuracy").success

    @pytest.mark.parametrize(
        ("name", "column", "asset"),
        [
            ("drawn_images", "seed", "questions"),
            ("original_images", "base_id", "questions"),
            ("measurements", "mark", "questions"),
            ("answers_prior", "prompting", "accuracy"),
        ],
    )
    def test_a_table_without_a_column(self, root, name, column, asset):
        stored = table(root, name)
        renamed = pd.read_parquet(stored).rename(columns={column: f"{column}s"})
        renamed.to_parquet(stored)
        topic = TOPIC if asset == "questions" else None
        message = failure(materialize(root, asset, topic=topic))
        assert f"has no column `{column}` (the nearest is `{column}s`)" in message
        assert f"Materialize vlmbias/{name} ({TOPIC}) again." in message

    @pytest.mark.parametrize("fresh", [["drawn_images", "original_images"], ["drawn_images"]])
    def test_a_report_on_images_that_the_questions_are_not_about(self, root, fresh):
        assert materialize(root, "accuracy").success
        assert materialize(root, *fresh, topic=TOPIC, sizes=(500,)).success
        message = failure(materialize(root, "report"))
        assert f"vlmbias/questions ({TOPIC}) asks about other images" in message
        assert f"Materialize vlmbias/measurements and vlmbias/questions for {TOPIC}" in message

    def test_an_accuracy_that_is_older_than_the_answers(self, root):
        assert materialize(root, "accuracy").success
        rewrite(
            table(root, "answers_random"),
            lambda rows: [row | {"answer": row["ground_truth"], "score": 1.0} for row in rows],
        )
        message = failure(materialize(root, "report"))
        assert "Mismatch" in message
        assert "vlmbias/accuracy is older than the answers" in message


def test_nothing_to_score_is_said(tmp_path):
    assert "No judge has answered yet" in failure(materialize(tmp_path, "accuracy"))


def test_nothing_to_report_is_said(root):
    assert materialize(root, "accuracy").success
    table(root, "measurements").unlink()
    message = failure(materialize(root, "report"))
    assert "NotMaterialized" in message
    assert "no measurements yet" in message
