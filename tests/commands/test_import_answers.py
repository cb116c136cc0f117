"""`counterfactory import-answers`, before and after its judge has an entry."""

import json

import yaml


def test_the_entry_to_add_is_printed_and_then_taken(command, tmp_path):
    line = {"filtered_resps": "{5}", "row": {"id": "a"}}
    (tmp_path / "1_samples_x.jsonl").write_text(json.dumps(line))
    (tmp_path / "1_results.json").write_text(json.dumps({"model_name": "gpt-4.1"}))
    arguments = ("import-answers", "1_samples_x.jsonl", "--judge", "elsewhere")
    done = command(*arguments, COUNTERFACTORY_HOME=tmp_path / "data")
    assert done.exit_code == 2
    assert "'elsewhere' is not in" in done.stderr
    entry = done.stderr[done.stderr.index("- name") :]
    assert yaml.safe_load(entry)[0]["family"] == "gpt"
    done = command(*arguments, models=entry, COUNTERFACTORY_HOME=tmp_path / "data")
    assert "none of the tables that it is made from is materialized" in done.stderr
    assert done.exit_code != 0


def test_a_name_that_models_yaml_refuses_is_refused_before_an_entry_is_printed(command, tmp_path):
    (tmp_path / "1_samples_x.jsonl").write_text('{"filtered_resps": "{5}", "row": {"id": "a"}}')
    for name in ("bad name", "class"):
        done = command("import-answers", "1_samples_x.jsonl", "--judge", name)
        assert done.exit_code == 2
        assert f"--judge is '{name}', which " in done.stderr
        assert "backend: imported" not in done.stderr


def test_answers_of_a_provider_and_of_a_log_are_not_mixed(command, tmp_path):
    (tmp_path / "1_samples_x.jsonl").write_text('{"filtered_resps": "{5}", "row": {"id": "a"}}')
    entry = "- {name: j, backend: openai, model: vlm-1, family: some, roles: [judge]}"
    arguments = ("import-answers", "1_samples_x.jsonl", "--judge", "j")
    done = command(*arguments, models=entry, COUNTERFACTORY_HOME=tmp_path / "data")
    assert done.exit_code == 2
    assert "are not mixed. Name an entry of the backend imported" in done.stderr
