"""The command line of quotes: a table, or one clear message and exit code 1."""

import json
import os
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from assets.vlmbias.questions import QUESTIONS
from tests.scripts import Scripts

ROOT = Path(__file__).parents[1]
MODELS = """
- name: gpt
  backend: openai
  model: gpt-test
  family: gpt
  roles: [judge]
  longest_output: 1000
  price: {input_per_million: 2.0, output_per_million: 8.0}
- name: flux_schnell
  backend: diffusers
  model: black-forest-labs/FLUX.1-schnell
  family: flux
  roles: [painter]
- name: sketch
  backend: offline
  model: sketch
  family: reference
  roles: [painter]
"""


@pytest.fixture(scope="module")
def scripts():
    with closing(Scripts()) as scripts:
        yield scripts


@pytest.fixture
def quoted(scripts, tmp_path):
    """Runs the script on a data root with two questions about flags."""
    models = tmp_path / "models.yaml"
    models.write_text(MODELS)
    (tmp_path / "dagster.yaml").touch()
    folder = tmp_path / "data" / "vlmbias" / "questions"
    folder.mkdir(parents=True)
    row = {"sha256": "0" * 64, "domain": "flags", "question_id": "Q1"}
    rows = [row | {"question": f"How many {what}?"} for what in ("a", "b")]
    pq.write_table(QUESTIONS.table(rows), folder / "flags.parquet")
    return partial(scripts.run, "quote.py", COUNTERFACTORY_MODELS=models)


def test_it_prints_a_table(quoted):
    config = {"ops": {"vlmbias__answers_gpt": {"config": {"prompting": ["baseline", "debiased"]}}}}
    done = quoted(
        "--select", 'kind:"judge"', "--partitions", "flags", "--config", json.dumps(config)
    )
    assert done.returncode == 0, done.stderr
    heads, row, *_ = done.stdout.splitlines()
    assert heads.split()[:6] == ["asset", "partition", "model", "requests", "stored", "to"]
    assert row.split()[:6] == ["vlmbias/answers_gpt", "flags", "gpt", "4", "0", "4"]


def test_variables_are_read_from_the_env_file_of_the_folder_and_never_said(quoted, tmp_path):
    """In a process of its own, for only that has a folder of its own."""
    keyed = MODELS.replace("gpt\n", "gpt_of_env\n", 1)
    (tmp_path / "of_env.yaml").write_text(keyed)
    secret = "sk-canary-5d1be0"
    (tmp_path / ".env").write_text(
        f"OPENAI_API_KEY={secret}\nCOUNTERFACTORY_MODELS={tmp_path}/of_env.yaml\n"
        f"COUNTERFACTORY_HOME={tmp_path}/elsewhere\n"
    )
    environment = dict(os.environ, COUNTERFACTORY_HOME=str(tmp_path / "data"))
    environment.pop("COUNTERFACTORY_MODELS", None)
    done = subprocess.run(
        [sys.executable, ROOT / "quote.py", "--select", 'kind:"judge"', "--partitions", "flags"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[1].split()[:4] == [
        "vlmbias/answers_gpt_of_env",
        "flags",
        "gpt_of_env",
        "2",
    ]
    assert secret not in done.stdout + done.stderr


def test_git_ignores_the_env_file():
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--partitions", "flag"], "'flag', did you mean flags"),
        (["--partitions", "flux_schnel|animals"], "|animals', did you mean flux_schnell|animals"),
        (["--select", "nobody"], "The selection 'nobody' cannot be used"),
        (["--config", "[[["], "The config [[[ cannot be read: Invalid JSON"),
        (["--config", "[" * 100_000], "cannot be read: Invalid JSON: recursion limit"),
        (["--config", '{"ops": ' + "9" * 5_000 + "}"], "cannot be read: Invalid JSON: number"),
        (["--config", "[]"], "The config [] cannot be read: Input should be an object"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_1(quoted, arguments, message):
    done = quoted(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
