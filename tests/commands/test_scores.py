"""`counterfactory scores`: what harnesses would print for stored answers."""

import csv

import pandas as pd
import pytest

from tests.metrics.vlmbias.test_harness_table import build_answers


@pytest.fixture
def stored_answers(tmp_path):
    folder = tmp_path / "home" / "vlmbias" / "answers_gpt"
    folder.mkdir(parents=True)
    rows = build_answers().assign(prompting="baseline")
    debiased = rows.assign(prompting="debiased", response="{14}")
    pd.concat([rows, debiased]).to_parquet(folder / "flags.parquet")
    return folder.parents[1]


def test_it_prints_each_harness_and_why_it_differs(command, stored_answers, tmp_path):
    file = tmp_path / "differences.csv"
    result = command("scores", "gpt", "--items", file, COUNTERFACTORY_HOME=stored_answers)
    assert result.exit_code == 0
    lines = {line.split("  ")[0].strip(): line.split() for line in result.output.splitlines()}
    assert lines["lmms-eval"][1:] == ["6", "16.7", "%", "33.3", "%", "12.5", "%", "37.5", "%", "4"]
    assert lines["Counterfactory"][1:] == ["4", "50.0", "%", "25.0", "%", "33.3", "%", "50.0", "%"]
    said = "joins all digits of the reply, as written, into one number: 1, as in"
    assert f'lmms-eval {said} "13 stripes, one more: {{14}}".' in result.output
    assert "32 tokens" not in result.output
    with file.open(encoding="utf-8", newline="") as lines_of_file:
        items = list(csv.DictReader(lines_of_file))
    assert len(items) == 17
    assert (items[0]["theirs"], items[0]["ours"]) == ("wrong", "right")


def test_a_file_of_items_replaces_one_of_its_own_alone(command, stored_answers, tmp_path):
    arguments = ("scores", "gpt", "--items")
    file = tmp_path / "models.yaml"
    done = command(*arguments, file, COUNTERFACTORY_HOME=stored_answers)
    assert done.exit_code == 2
    assert f"{file} is there and is no file of --items: name another file." in done.stderr
    assert done.stdout == ""
    assert file.read_text() == "[]"
    (tmp_path / "items.csv").touch()
    for _ in range(2):
        done = command(*arguments, "items.csv", COUNTERFACTORY_HOME=stored_answers)
        assert done.exit_code == 0, done.stderr


def test_long_replies_are_named(command, stored_answers):
    path = stored_answers / "vlmbias" / "answers_gpt" / "flags.parquet"
    rows = pd.read_parquet(path)
    rows["response"] = "word " * 40
    rows.to_parquet(path)
    result = command("scores", "gpt", COUNTERFACTORY_HOME=stored_answers)
    assert "ends a reply after 32 tokens: 6 replies have more words" in result.output


def test_mistakes_are_named(command, stored_answers, tmp_path):
    result = command("scores", "gtp", COUNTERFACTORY_HOME=stored_answers)
    assert result.exit_code == 2
    assert "gtp: not among the judges with answers to VLMBias" in result.output
    assert "did you mean gpt?" in result.output
    assert "For either, add gtp to " in result.output
    judge = "- {name: prior, backend: stand_in, model: prior, family: stand_in, roles: [judge]}"
    result = command("scores", "prior", models=judge, COUNTERFACTORY_HOME=stored_answers)
    assert "To add it, materialize vlmbias/answers_prior" in result.output
    assert "For either" not in result.output
    result = command("scores", "gpt", COUNTERFACTORY_HOME=tmp_path / "nothing")
    assert result.exit_code == 2
    assert "there are none to choose from" in result.output
    file = tmp_path / "missing" / "x.csv"
    result = command("scores", "gpt", "--items", file, COUNTERFACTORY_HOME=stored_answers)
    assert result.exit_code == 2
    assert "cannot be written" in result.output
