"""`counterfactory init`: what it writes, and that it changes nothing."""

from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from commands.app import app

PROJECT = Path(__file__).parents[2]
SAME_AS_IN_A_CHECKOUT = ("models.yaml", "taxonomy.yaml", "collections.yaml")


@pytest.fixture
def init(tmp_path):
    return lambda folder=tmp_path / "bench": CliRunner().invoke(app, ["init", str(folder)])


def read_all(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_new_project_has_the_files_of_a_checkout(init, tmp_path):
    done = init()
    files = read_all(tmp_path / "bench")
    assert done.exit_code == 0, done.stderr
    assert {name: files.pop(name) for name in SAME_AS_IN_A_CHECKOUT} == {
        name: (PROJECT / name).read_bytes() for name in SAME_AS_IN_A_CHECKOUT
    }
    example = (PROJECT / "dagster.yaml.example").read_bytes()
    assert files.pop(".dagster/dagster.yaml") == example
    workspace = yaml.safe_load(files.pop("workspace.yaml"))
    assert workspace == {"load_from": [{"python_module": {"module_name": "definitions"}}]}
    assert files == {f"photographs/{n}": b for n, b in read_all(PROJECT / "photographs").items()}
    assert not any(path.is_symlink() for path in (tmp_path / "bench").rglob("*"))


def test_nothing_that_exists_is_changed_and_each_file_is_named(init, tmp_path):
    init()
    folder = tmp_path / "bench"
    (folder / "models.yaml").write_text("- {name: mine}\n")
    (folder / "photographs" / "cat.jpg").unlink()
    (folder / "notes.txt").write_text("of mine")
    (folder / "taxonomy.yaml").unlink()
    (folder / "taxonomy.yaml").symlink_to(tmp_path / "on_another_disk.yaml")
    before = read_all(folder)
    done = init()
    assert done.exit_code == 0
    assert read_all(folder) == before | {
        "photographs/cat.jpg": (PROJECT / "photographs" / "cat.jpg").read_bytes()
    }
    assert not (tmp_path / "on_another_disk.yaml").exists()
    by_heading = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    by_version = f"those of version {version('counterfactory')}"
    assert by_heading["Written"] == "photographs/cat.jpg"
    assert by_heading[f"Kept, other than {by_version}"] == "models.yaml, taxonomy.yaml"
    assert "photographs/coffee.jpg" in by_heading[f"Kept, the same as {by_version}"]


def test_what_is_no_folder_is_a_mistake_that_is_named(init, tmp_path):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "photographs").write_text("a file")
    done = init()
    assert done.exit_code == 2
    assert f"{tmp_path}/bench/photographs/admiral.jpg: " in done.stderr
    (tmp_path / "bench" / "photographs").unlink()
    assert init().exit_code == 0
    done = init(tmp_path / "bench" / "models.yaml")
    assert done.exit_code == 2
    assert "Name a folder that you may write to" in done.stderr
