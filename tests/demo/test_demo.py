"""The first command of the README, at small size; in a folder, so as not to be the last to run."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from dagster import AssetKey, AssetRecordsFilter, DagsterInstance

from demo import main
from resources.calls import CallStore

PROJECT = Path(__file__).parents[2]
TOTALS = "all 464 130 343 of 343 594"
"""Images, originals, verified and distinct: 160 images and 91 originals are a rehearsal."""
PAID = """
- {name: paid, backend: openai, model: gpt-4.1, family: gpt, roles: [judge]}
- {name: paints, backend: openai, model: gpt-image-1, family: gpt, roles: [painter, editor]}
"""
"""What a user has added: the demo must not spend, so neither is ever asked."""


AGAIN = """
import sys, demo
demo.DRAWN, demo.PHOTOGRAPHED, demo.DOMAINS = ("game_boards",), ("logos",), ("animals",)
sys.exit(demo.main())
"""
"""The demo, of one topic that is drawn, one that is painted, and one domain of ProtoBias."""


def demo(folder, *arguments, models=None, program=("demo.py",), **environment):
    instance = folder / "instance"
    instance.mkdir(exist_ok=True)
    (instance / "dagster.yaml").write_text((PROJECT / "dagster.yaml.example").read_text())
    listed = (PROJECT / "models.yaml").read_text() if models is None else models
    catalog = folder / "models.yaml"
    catalog.write_text(listed + PAID)
    homes = {
        "DAGSTER_HOME": str(instance),
        "COUNTERFACTORY_HOME": str(folder / "data"),
        "COUNTERFACTORY_MODELS": str(catalog),
    }
    return subprocess.run(
        [sys.executable, *program, *arguments],
        cwd=PROJECT,
        env=os.environ | homes | environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def first(folder):
    return demo(folder, "--sizes", "384")


def test_it_builds_and_verifies_everything(first, folder):
    assert first.returncode == 0, first.stderr
    assert first.stderr == ""
    assert TOTALS in " ".join(first.stdout.split())
    report = folder / "data" / "report" / "vlmbias" / "index.html"
    assert f"Report: {report}" in first.stdout
    assert "464 images, 160 of them a rehearsal by sketch" in first.stdout
    assert "130 originals, 91 of them likewise" in first.stdout
    assert report.exists()


def test_what_is_rehearsed_says_so(first, folder):
    tables = [pd.read_parquet(path) for path in (folder / "data/vlmbias/photographs").iterdir()]
    rows = pd.concat(tables)
    assert rows.groupby("domain")["image_id"].nunique().to_dict() == {"animals": 182, "logos": 69}
    assert set(rows["image_set"]) == {"rehearsal"}
    assert set(rows["review"]) == {"unreviewed"}
    assert rows["rehearsal"].all()
    assert set(rows["painter"]) == {"sketch"}
    for line in first.stdout.partition("ProtoBias")[0].splitlines():
        if line.startswith(("animals", "logos")):
            assert "rehearsal" in line


def test_protobias_is_rehearsed_and_says_so(first, folder):
    report = folder / "data" / "report" / "protobias"
    assert f"Report: {report}/index.html" in first.stdout
    assert "All pictures of ProtoBias are a rehearsal by sketch" in first.stdout
    said = " ".join(first.stdout.split())
    for domain in ("animals", "demography", "objects"):
        assert f" {domain} 6 6 6 " in said
    assert "All of this is a stand-in run:" in (report / "index.html").read_text()
    assert (report / "pairs-sketch.html").read_text().count("<article") == 18


def test_a_judge_that_costs_money_is_not_asked(first, folder):
    assert first.returncode == 0, first.stderr
    answers = (folder / "data" / "vlmbias").glob("answers_*")
    scores = (folder / "data" / "protobias").glob("scores_*")
    for asked in (answers, scores):
        judges = {path.name.partition("_")[2] for path in asked}
        assert judges == {"prior", "pixels", "random"}
    pairs = (folder / "data" / "protobias" / "image_pairs").glob("*/*")
    assert {path.stem for path in pairs} == {"sketch"}
    with closing(CallStore(url=f"sqlite:///{folder}/data/calls.sqlite")) as calls:
        backends = {call.backend for call in calls.rows(calls.all_keys())}
    assert backends == {"offline"}


def test_a_catalog_without_a_painter_that_is_free_is_refused(tmp_path):
    refused = demo(tmp_path, "--sizes", "384", models="")
    assert refused.returncode == 1
    assert "models.yaml lists no painter that runs offline" in refused.stderr
    assert "name: sketch" in refused.stderr
    assert runs_of(tmp_path) == 0


def test_no_two_scenes_of_any_topics_share_their_pixels(first, folder):
    tables = (folder / "data" / "vlmbias" / "measurements").glob("*.parquet")
    images = pd.concat([pd.read_parquet(table) for table in tables]).drop_duplicates("image_id")
    assert images["pixels_sha256"].nunique() == len(images) == 343


def runs_of(folder):
    """How many runs there are in the Dagster instance of a demo."""
    with DagsterInstance.from_config(str(folder / "instance")) as instance:
        return instance.get_runs_count()


def recorded(folder, name, topic, number, group="vlmbias"):
    """What the materializations of `<group>/<name>` say of `number`, newest first."""
    of = AssetRecordsFilter(AssetKey([group, name]), asset_partitions=[topic])
    with DagsterInstance.from_config(str(folder / "instance")) as instance:
        return [
            record.asset_materialization.metadata[number].value
            for record in instance.fetch_materializations(of, limit=5).records
        ]


def test_a_second_run_draws_measures_and_asks_nothing(first, folder):
    """Of two topics, for all go the same way; the report is of all again."""
    report = folder / "data" / "report" / "vlmbias" / "index.html"
    before = report.stat().st_mtime_ns
    again = demo(folder, "--sizes", "384", program=("-c", AGAIN))
    assert again.returncode == 0, again.stderr
    assert "all 97 4 32 of 32 101" in " ".join(again.stdout.split())
    for name, number in (
        ("drawn_images", "drawn_now"),
        ("original_images", "drawn_now"),
        ("measurements", "measured_now"),
    ):
        now, then = recorded(folder, name, "game_boards", number)
        assert now == 0
        assert then > 0
    for name, pictures in (("paintings", 54), ("edits", 276)):
        assert recorded(folder, name, "sketch|logos", "requests_sent") == [0, pictures]
    sent = recorded(folder, "image_pairs", "animals|sketch", "requests_sent", "protobias")
    assert sent == [0, 12]
    assert report.stat().st_mtime_ns > before


@pytest.mark.parametrize("sizes", [("8",), ("384", "4097"), ("100",)])
def test_a_size_out_of_range_is_refused_before_the_first_run(monkeypatch, capsys, sizes):
    monkeypatch.setattr(sys, "argv", ["demo.py", "--sizes", *sizes])
    monkeypatch.setattr(DagsterInstance, "get", None)
    assert main() == 1
    said = capsys.readouterr().err
    assert f"cannot be drawn at {sizes[-1]} px: choose a size from" in said
    assert "Traceback" not in said


def test_a_run_that_fails_fails_the_demo(first, folder):
    """Whatever the ledger remembers: there is no folder to keep images in."""
    stores = folder / "data" / "images"
    stores.rename(folder / "data" / "away")
    stores.write_text("no folder")
    try:
        failed = demo(folder, "--sizes", "384")
    finally:
        stores.unlink()
        (folder / "data" / "away").rename(stores)
    assert failed.returncode == 1
    assert "chess_pieces failed:" in failed.stderr
    assert f"{stores}/" in failed.stderr
    assert "set COUNTERFACTORY_HOME" in failed.stderr


def test_a_data_root_that_cannot_be_written_is_named(tmp_path):
    failed = demo(tmp_path, "--sizes", "384", COUNTERFACTORY_HOME="/proc/nowhere")
    assert failed.returncode == 1
    assert "/proc/nowhere" in failed.stderr
    assert "set COUNTERFACTORY_HOME" in failed.stderr


def test_a_seed_that_is_no_whole_number_is_refused(tmp_path):
    refused = demo(tmp_path, "--seed", "seven")
    assert refused.returncode == 2
    assert "invalid int value: 'seven'" in refused.stderr


def test_a_seed_too_large_is_refused_and_named(tmp_path):
    refused = demo(tmp_path, "--seed", str(2**63), "--sizes", "384")
    assert refused.returncode != 0
    assert "seed" in refused.stderr.lower()
    assert str(2**63) in refused.stderr
    assert not (tmp_path / "data" / "images").exists()


def test_a_data_root_that_is_no_folder_is_refused(tmp_path):
    refused = demo(tmp_path, "--sizes", "384", COUNTERFACTORY_HOME="s3://bucket/data")
    assert refused.returncode != 0
    assert "COUNTERFACTORY_HOME is s3://bucket/data, which is not a folder" in refused.stderr
    assert runs_of(tmp_path) == 0
