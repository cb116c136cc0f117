"""`counterfactory prompts`: a list for whoever paints, or one clear message and exit code 2."""

import csv
import errno
import io
import json
from functools import partial
from pathlib import Path

import pytest

from assets.planning.prompts import ListedPrompt
from commands.prompts import _write
from tests.assets.paired import write_triplets

MODELS = """
- name: by_hand
  backend: folder
  model: {}
  family: mine
  roles: [painter]
"""
SELECTED = ("protobias/image_pairs", "--partitions", "animals|by_hand")


@pytest.fixture
def prompts(tmp_path, command):
    write_triplets(tmp_path / "data", 2)
    (tmp_path / "manifest.csv").write_text("prompt,sample,file\n")
    return partial(command, "prompts", models=MODELS.format(tmp_path / "manifest.csv"))


def test_both_kinds_of_file_say_the_same(prompts, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("ops: {protobias__image_pairs: {config: {samples: 2}}}")
    for name in ("prompts.csv", "prompts.jsonl"):
        done = prompts(*SELECTED, "--config", config, "--to", name)
        assert done.exit_code == 0, done.stderr
        assert done.stdout == f"{name}: pictures to be painted: 8.\n"
    with (tmp_path / "prompts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text().splitlines()]
    assert [*rows[0]] == ["prompt", "seed", "sample", "file"]
    empty = {"seed": ""}
    assert rows == [{name: str(value) for name, value in each.items()} | empty for each in lines]
    assert [row["sample"] for row in rows].count("1") == 4


def test_the_list_is_a_manifest_and_what_it_has_is_missing_no_more(prompts, tmp_path):
    assert prompts(*SELECTED, "--to", "first.csv").exit_code == 0
    (tmp_path / "manifest.csv").write_text((tmp_path / "first.csv").read_text())
    with (tmp_path / "first.csv").open(newline="") as file:
        files = [row["file"] for row in csv.DictReader(file)]
    for name in files[1:]:
        (tmp_path / name).write_bytes(b"somebody has painted this")
    done = prompts(*SELECTED, "--missing", "--to", "second.csv")
    assert done.stdout == "second.csv: pictures to be painted: 1.\n"


def test_a_file_that_is_there_is_left_alone(prompts, tmp_path):
    done = prompts(*SELECTED, "--to", "manifest.csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "manifest.csv is there already. Name a new file" in done.stderr
    assert (tmp_path / "manifest.csv").read_text() == "prompt,sample,file\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([*SELECTED, "--to", "a.txt"], 2, "a.txt ends in neither .csv nor .jsonl"),
        ([*SELECTED, "--to", "gone/a.csv"], 2, "gone/a.csv cannot be written"),
        (["protobias/prompt_triplets", "--to", "a.csv"], 2, "No selected asset is painted"),
        (
            ["protobias/image_pairs", "-p", "objects|by_hand", "--to", "a.csv"],
            1,
            "Materialize protobias/prompt_triplets first",
        ),
    ],
)
def test_what_cannot_be_listed_is_told(prompts, tmp_path, arguments, code, message):
    done = prompts(*arguments)
    assert not (tmp_path / "a.csv").exists()
    assert (done.exit_code, message in done.stderr) == (code, True), done.stderr


def test_a_list_that_does_not_fit_on_the_disk_leaves_no_part_of_one(tmp_path, monkeypatch):
    flush = io.BufferedWriter.flush

    class Full(io.BufferedWriter):
        def flush(self):
            flush(self)
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda path, mode: Full(io.FileIO(path, "x")))
    with pytest.raises(ValueError, match=r"list\.csv cannot be written \(No space"):
        _write(tmp_path / "list.csv", [ListedPrompt("A hen.", None, 0, "a.png")])
    assert not (tmp_path / "list.csv").exists()
