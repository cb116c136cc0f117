"""What all commands share: help, completion, and how they end."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from dagster import DagsterInvalidConfigError
from typer.main import get_command

from assets.planning import CannotQuote
from assets.release import ReleaseMismatch
from commands.app import EXPECTED_ERRORS, app, find_exit_code
from commands.completion import (
    complete_assets,
    complete_benchmarks,
    complete_judges,
    complete_partitions,
)
from resources.cassette import BadCassette
from resources.faults import DiskFull
from resources.models.catalog import CatalogError
from resources.settings import project_folder

PROJECT = Path(__file__).parents[2]
MODELS = "- {name: sketch, backend: stand_in, model: sketch, family: stand_in, roles: [painter]}"
QUICK = """
import sys
from importlib import import_module
from commands.app import app
for arguments in (["--help"], *([name, "--help"] for name in sys.argv[1:])):
    try:
        app(arguments)
    except SystemExit as end:
        assert end.code == 0
assert not {"dagster", "pandas", "definitions"} & set(sys.modules)
"""

SHELL = """
import atexit, os, sys
os.environ["_COUNTERFACTORY_COMPLETE"] = "complete_bash"
from commands.app import main
atexit.register(lambda: print(*{"dagster", "pandas", "definitions"} & set(sys.modules), end=""))
main()
"""
"""Completes what a shell has in its variables, and prints slow modules, if it loaded any."""


def test_help_of_each_command_shows_an_example(command):
    for name in get_command(app).commands:
        done = command(name, "--help")
        assert done.exit_code == 0
        assert f"counterfactory {name}" in done.stdout.partition("Example")[2]


def test_help_loads_neither_dagster_nor_the_code_location():
    names = list(get_command(app).commands)
    done = subprocess.run(
        [sys.executable, "-c", QUICK, *names],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_names_are_completed_and_follow_the_models(command, tmp_path):
    command("quote", "vlmbias/accuracy", models=MODELS)
    assert complete_assets("protobias/im") == ["protobias/image_pairs"]
    assert complete_assets("image_p") == ["protobias/image_pairs"]
    assert complete_benchmarks("vlmbias,proto") == ["vlmbias,protobias"]
    context = type("Context", (), {"params": {"select": "vlmbias/paintings"}, "args": []})
    assert complete_partitions(context, "sk") == ["sketch|animals", "sketch|logos"]
    assert complete_judges("") == []
    judge = "- {name: prior, backend: stand_in, model: prior, family: stand_in, roles: [judge]}"
    renamed = MODELS.replace("sketch,", "pencil,", 1) + f"\n{judge}"
    command("quote", "vlmbias/accuracy", models=renamed)
    assert complete_partitions(context, "pen") == ["pencil|animals", "pencil|logos"]
    assert complete_judges("pr") == ["prior"]

    typed = "counterfactory quote protobias/image_pairs --partitions objects|pencil,animals|p"
    done = subprocess.run(
        [sys.executable, "-c", SHELL],
        env=os.environ | {"COMP_WORDS": typed, "COMP_CWORD": "4", "PYTHONPATH": str(PROJECT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["objects|pencil,animals|pencil"]


def test_nothing_is_completed_outside_a_project(tmp_path, monkeypatch):
    monkeypatch.setattr(project_folder, "CODE_FOLDER", tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)
    context = type("Context", (), {"params": {}, "args": []})
    for instance in (None, tmp_path):
        monkeypatch.delenv("DAGSTER_HOME", raising=False)
        if instance:
            monkeypatch.setenv("DAGSTER_HOME", str(instance))
        assert complete_assets("") == complete_judges("") == complete_benchmarks("") == []
        assert complete_partitions(context, "") == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CannotQuote("flag, did you mean flags"), 2),
        (CatalogError("models.yaml, line 3: …"), 2),
        (DagsterInvalidConfigError("config", [], {}), 2),
        (BadCassette("answers.cassette cannot be taken"), 2),
        (DiskFull("No space is left"), 1),
        (ReleaseMismatch("folder: it is not the release"), 1),
        (KeyError("a bug"), None),
    ],
)
def test_exit_codes_tell_a_mistake_from_a_failure(error, code):
    assert find_exit_code(error) == code


def test_a_models_file_that_cannot_be_read_is_one_message(command):
    done = command("quote", models="- {name: 3")
    assert done.exit_code == 2
    assert "models.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_known_error_is_where_it_is_said_to_be():
    for module, name, _ in EXPECTED_ERRORS:
        assert issubclass(getattr(import_module(module), name), Exception)
