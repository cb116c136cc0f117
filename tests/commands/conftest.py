"""The command line in process, with a data root, an instance and models of its own."""

import sys

import pytest
from typer.testing import CliRunner

from commands.app import app


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Runs a command line, and returns how it ended and what it said.

    The code location is loaded anew where it is the first of a test, or its models are others.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERFACTORY_MODELS", str(tmp_path / "models.yaml"))
    monkeypatch.setitem(sys.modules, "definitions", None)
    models_file = tmp_path / "models.yaml"

    def run(*arguments, models="[]", **environment):
        (tmp_path / "dagster.yaml").touch()
        for name, value in environment.items():
            monkeypatch.setenv(name, str(value))
        if not models_file.exists() or models_file.read_text() != models:
            models_file.write_text(models)
            sys.modules.pop("definitions", None)
        return CliRunner().invoke(app, [*map(str, arguments)])

    return run
