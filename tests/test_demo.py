"""The first command of the README, at small size."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

PROJECT = Path(__file__).parents[1]
TOTALS = "all 343 343 of 343 343"


def demo(folder, *arguments, **environment):
    instance = folder / "instance"
    instance.mkdir(exist_ok=True)
    (instance / "dagster.yaml").write_text((PROJECT / "dagster.yaml.example").read_text())
    homes = {"DAGSTER_HOME": str(instance), "COUNTERFACTORY_HOME": str(folder / "data")}
    return subprocess.run(
        [sys.executable, "demo.py", *arguments],
        cwd=PROJECT,
        env=os.environ | homes | environment,
        capture_output=True,
        text=True,
        timeout=300,
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
    report = folder / "data" / "vlmbias" / "report" / "index.html"
    assert f"Report: {report}" in first.stdout
    assert "343" in report.read_text()


def test_no_two_scenes_of_any_topics_share_their_pixels(first, folder):
    tables = (folder / "data" / "vlmbias" / "measurements").glob("*.parquet")
    images = pd.concat([pd.read_parquet(table) for table in tables]).drop_duplicates("image_id")
    assert images["pixels_sha256"].nunique() == len(images) == 343


def test_a_second_run_draws_nothing(first, folder):
    images = folder / "data" / "images"
    before = {path: path.stat().st_mtime_ns for path in images.rglob("*.png")}
    again = demo(folder, "--sizes", "384")
    assert again.returncode == 0, again.stderr
    assert TOTALS in " ".join(again.stdout.split())
    assert {path: path.stat().st_mtime_ns for path in images.rglob("*.png")} == before


def test_a_run_that_fails_fails_the_demo(tmp_path):
    failed = demo(tmp_path, "--sizes", "8")
    assert failed.returncode == 1
    assert "chess_pieces cannot be drawn at 8 px: choose a size from" in failed.stderr


def test_a_data_root_that_cannot_be_written_is_named(tmp_path):
    failed = demo(tmp_path, "--sizes", "384", COUNTERFACTORY_HOME="/proc/nowhere")
    assert failed.returncode == 1
    assert "/proc/nowhere" in failed.stderr
    assert "set COUNTERFACTORY_HOME" in failed.stderr


def test_a_seed_that_is_no_whole_number_is_refused(tmp_path):
    refused = demo(tmp_path, "--seed", "seven")
    assert refused.returncode == 2
    assert "invalid int value: 'seven'" in refused.stderr
