"""`counterfactory quote`: a sentence and a table, or one clear message and exit code 2."""

from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from assets.vlmbias.questions import QUESTIONS

PROJECT = Path(__file__).parents[2]
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
  backend: stand_in
  model: sketch
  family: stand_in
  roles: [painter]
"""


@pytest.fixture
def asked(tmp_path):
    """A data root with two questions about flags."""
    folder = tmp_path / "data" / "vlmbias" / "questions"
    folder.mkdir(parents=True)
    row = {"sha256": "0" * 64, "domain": "flags", "question_id": "Q1"}
    rows = [row | {"question": f"How many {what}?"} for what in ("a", "b")]
    pq.write_table(QUESTIONS.build_table(rows), folder / "flags.parquet")


@pytest.fixture
def quote(asked, command):
    return partial(command, "quote", models=MODELS)


def test_it_prints_a_sentence_and_a_table(quote, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("ops: {vlmbias__answers_gpt: {config: {prompting: [baseline, debiased]}}}")
    done = quote('kind:"judge" and group:"vlmbias"', "--partitions", "flags", "--config", config)
    assert done.exit_code == 0, done.stderr
    sentence, _, heads, row, *_ = done.stdout.splitlines()
    assert sentence.startswith("4 requests to gpt: ")
    assert heads.split()[:6] == ["asset", "partition", "model", "requests", "stored", "to"]
    assert row.split()[:6] == ["vlmbias/answers_gpt", "flags", "gpt", "4", "0", "4"]


def test_a_run_config_is_taken_of_which_the_ops_count(quote, tmp_path, caplog):
    config = tmp_path / "config.yaml"
    config.write_text(
        "ops: {vlmbias__answers_gpt: {config: {prompting: [baseline, debiased]}}}\n"
        "resources: {budget: {config: {per_run_usd: 1}}}\nexecution: {config: {}}"
    )
    done = quote('kind:"judge" and group:"vlmbias"', "--partitions", "flags", "--config", config)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("4 requests to gpt: ")
    assert "Not used from the config, as only `ops` counts: resources, execution." in caplog.text


def test_variables_are_read_from_the_env_file_of_the_folder_and_never_said(
    quote, tmp_path, monkeypatch
):
    """What the environment says goes before what the file says."""
    keyed = MODELS.replace("gpt\n", "gpt_of_env\n", 1)
    (tmp_path / "of_env.yaml").write_text(keyed)
    secret = "sk-canary-5d1be0"
    (tmp_path / ".env").write_text(
        f"OPENAI_API_KEY={secret}\nCOUNTERFACTORY_MODELS={tmp_path}/of_env.yaml\n"
        f"COUNTERFACTORY_HOME={tmp_path}/elsewhere\n"
    )
    for name in ("OPENAI_API_KEY", "COUNTERFACTORY_MODELS"):
        monkeypatch.setenv(name, "set, so that it is put back")
        monkeypatch.delenv(name)
    done = quote('kind:"judge" and group:"vlmbias"', "--partitions", "flags")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[3].split()[:4] == [
        "vlmbias/answers_gpt_of_env",
        "flags",
        "gpt_of_env",
        "2",
    ]
    assert secret not in done.stdout + done.stderr


def test_git_ignores_the_env_file():
    assert ".env" in (PROJECT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--partitions", "flag"], "'flag', did you mean flags"),
        (["vlmbias/questions", "--partitions", "flag"], "No selected asset has a partition 'flag'"),
        (["-p", "flags,flux_schnel|animals"], "|animals', did you mean flux_schnell|animals"),
        (["nobody"], "There is no asset 'nobody'"),
        (["vlmbias/answer_gpt"], "'vlmbias/answer_gpt', did you mean vlmbias/answers_gpt?"),
        (["--partitions", " ,"], "An option that names things is empty. Name some"),
        (["key:"], "The selection 'key:' cannot be used"),
    ],
)
def test_a_wrong_name_is_one_message_and_exit_code_2(quote, arguments, message):
    done = quote(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("ops:\n  a: [1", "line 2: cannot be read: expected ',' or ']'"),
        ("[" * 100_000, "cannot be read: maximum recursion depth"),
        ("ops: " + "9" * 5_000, "cannot be read: Exceeds the limit"),
        ("[]", "holds no mapping. Write a mapping as in Dagster's launchpad"),
        ("{ops: {vlmbias__answer_gpt: {}}}", "did you mean vlmbias__answers_gpt"),
        ("{ops: {vlmbias__answers_gpt: {config: {promting: []}}}}", "did you mean prompting"),
    ],
)
def test_a_config_that_cannot_be_used_is_one_message_and_exit_code_2(
    quote, tmp_path, written, message
):
    (tmp_path / "config.yaml").write_text(written)
    done = quote("--config", "config.yaml")
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_a_config_that_is_not_there_is_named(quote):
    done = quote("--config", "nowhere.yaml")
    assert done.exit_code == 2
    assert "nowhere.yaml" in done.stderr
