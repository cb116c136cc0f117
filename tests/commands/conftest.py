"""The command line in process, with a data root, an instance and models of its own."""

import shutil
import sys

import pytest
from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from typer.testing import CliRunner

from commands.app import app


@pytest.fixture(scope="session")
def new_instance(tmp_path_factory):
    """The files of an instance that was opened once: to make its 50 tables takes 0.1 s."""
    folder = tmp_path_factory.mktemp("instance")
    with DagsterInstance.from_ref(InstanceRef.from_dir(str(folder))):
        return folder


@pytest.fixture
def command(new_instance, tmp_path, monkeypatch):
    """Runs a command line, and returns how it ended and what it said.

    The code location is loaded anew where it is the first of a test, or its models are others.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERFACTORY_MODELS", str(tmp_path / "models.yaml"))
    monkeypatch.setitem(sys.modules, "definitions", None)
    models_file = tmp_path / "models.yaml"
    shutil.copytree(new_instance, tmp_path, dirs_exist_ok=True)

    def run(*arguments, models="[]", **environment):
        (tmp_path / "dagster.yaml").touch()
        for name, value in environment.items():
            monkeypatch.setenv(name, str(value))
        if not models_file.exists() or models_file.read_text() != models:
            models_file.write_text(models)
            sys.modules.pop("definitions", None)
        return CliRunner().invoke(app, [*map(str, arguments)])

    return run
