"""Files for leaderboards of others: the report's numbers and the answers, nothing unranked."""

import json
import re
from dataclasses import replace
from hashlib import sha256
from uuid import UUID

import pytest
import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from assets.release import (
    ReleaseMismatch,
    ReleaseOptions,
    ReleaseRefused,
    verify_release,
    write_release,
)
from assets.release.every_eval_ever import find_model_id
from assets.release.upload import Repository, check_folder, describe_upload
from resources.models.catalog import Catalog
from resources.settings.default_resources import build_default_resources
from tests import harnesses
from tests.assets.release.harness_readers import validate_records
from tests.assets.release.ranked import EYE, RANKED, REPLIES, with_report
from tests.assets.release.small import SHAPES, materialize_squares
from tests.runs import STAND_INS


@pytest.fixture
def reported(sources, tmp_path):
    return with_report(sources, tmp_path / "root")


@pytest.fixture
def folder(reported, tmp_path):
    write_release(tmp_path / "out", RANKED, reported, ReleaseOptions())
    return tmp_path / "out"


def read_record(folder):
    (path,) = (folder / "results/every_eval_ever").rglob("*-*.json")
    samples = path.with_name(f"{path.stem}_samples.jsonl").read_bytes()
    return path, json.loads(path.read_bytes()), samples


def test_eval_yaml_names_the_task_and_the_version(folder):
    declared = yaml.safe_load((folder / "eval.yaml").read_text())
    assert declared["name"] == "Shapes"
    assert "evaluation version 1" in declared["description"]
    assert declared["evaluation_framework"] == "counterfactory"
    assert declared["tasks"] == [{"id": "darkness", "config": "squares", "split": "test"}]


def test_the_models_file_is_as_huggingface_hub_writes_it(folder):
    entry = EvalResultEntry(
        dataset_id="OWNER/shapes",
        task_id="darkness",
        value=83.33,
        date="2026-11-20",
        source_url="https://huggingface.co/datasets/OWNER/shapes",
        source_name="Shapes, by Counterfactory",
        notes="Accuracy in percent, 95 % interval 73.33 to 93.33, evaluation version 1",
    )
    text = (folder / "results/eye/.eval_results/shapes.yaml").read_text()
    assert yaml.safe_load(text) == eval_result_entries_to_yaml([entry])
    assert text == yaml.dump(
        eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True, width=1000
    )


def test_the_record_has_the_number_its_interval_and_each_answer(folder):
    path, record, samples = read_record(folder)
    assert path.parent == folder / "results/every_eval_ever/data/counterfactory_shapes/openai/gpt_5"
    assert UUID(path.stem).version == 4
    (result,) = record["evaluation_results"]
    rows = [json.loads(line) for line in samples.decode().splitlines()]
    right = [REPLIES[row["sample_id"]].startswith(f"{{{row['sample_id'][:4]}") for row in rows]
    assert [row["evaluation"]["is_correct"] for row in rows] == right
    score = result["score_details"]
    assert score["score"] == sum(right) / len(right) == 5 / 6
    assert score["uncertainty"]["confidence_interval"]["lower"] == pytest.approx(5 / 6 - 0.1)
    assert {row["output"]["raw"][0] for row in rows} == set(REPLIES.values())
    details = record["detailed_evaluation_results"]
    assert details["total_rows"] == len(rows) == len(REPLIES)
    assert details["checksum"] == sha256(samples).hexdigest()
    versions = re.findall(r'"evaluation_version": "(\w+)"', path.read_text() + samples.decode())
    assert versions == ["1"] * (3 + len(rows))


def test_numbers_that_are_no_results_are_left_out_and_named(reported, tmp_path):
    release = write_release(tmp_path / "out", RANKED, reported, ReleaseOptions())
    assert [result.judge.name for result in release.results.judges] == ["eye"]
    assert release.results.omissions == [
        "No result of glance in darkness: trial (2 of 6 squares).",
        "No result of prior in darkness: stand-in.",
        "No result of random in darkness: not run (not run).",
        "No result of gone in darkness: models.yaml no longer lists it.",
    ]
    assert {path.name for path in (tmp_path / "out/results").iterdir()} == {
        "eye",
        "every_eval_ever",
    }
    card = (tmp_path / "out/README.md").read_text()
    assert "`eval.yaml` declares" in card
    assert "`results/` has the numbers of eye," in card


def test_the_files_are_in_croissant_and_the_check_compares_them(folder, reported):
    names = {
        item["name"] for item in json.loads((folder / "croissant.json").read_text())["distribution"]
    }
    assert {"eval.yaml", "results/eye/.eval_results/shapes.yaml"} <= names
    verify_release(folder, RANKED, reported, ReleaseOptions())
    file = folder / "results/eye/.eval_results/shapes.yaml"
    file.write_text(file.read_text().replace("83.33", "90.0"))
    with pytest.raises(ReleaseMismatch, match=re.escape("shapes.yaml")):
        verify_release(folder, RANKED, reported, ReleaseOptions())


def test_the_check_finds_results_that_are_none_any_more(folder, reported):
    fewer = replace(reported, catalog=Catalog(STAND_INS))
    with pytest.raises(ReleaseMismatch, match=r"results/eye/\S+ is unexpected"):
        verify_release(folder, RANKED, fewer, ReleaseOptions())


def test_the_same_results_give_the_same_bytes(folder, reported, tmp_path):
    write_release(tmp_path / "again", RANKED, reported, ReleaseOptions())
    sums = [(tmp_path / name / "SHA256SUMS").read_bytes() for name in ("out", "again")]
    assert sums[0] == sums[1]


def test_a_number_about_more_than_is_released_is_left_out(reported, tmp_path):
    release = write_release(tmp_path / "out", RANKED, reported, ReleaseOptions(partitions=["dark"]))
    assert not release.results.judges
    assert "its number is also about light." in release.results.omissions[0]
    assert not (tmp_path / "out/results").exists()


def test_a_stale_report_has_no_results(reported, instance, tmp_path):
    resources = build_default_resources(str(tmp_path / "root"))
    materialize_squares(resources, instance, "dark", seed=8)
    release = write_release(tmp_path / "out", RANKED, reported, ReleaseOptions())
    assert not release.results.judges
    (sentence,) = release.results.omissions
    assert sentence.startswith("No results: shapes/report is out of date.")


def test_without_a_report_there_is_eval_yaml_alone(sources, tmp_path):
    release = write_release(tmp_path / "out", RANKED, sources, ReleaseOptions())
    assert release.results.omissions == ["No results: shapes/report is not materialized."]
    assert (tmp_path / "out/eval.yaml").exists()
    assert not (tmp_path / "out/results").exists()


def test_a_benchmark_without_such_a_number_has_none_of_these_files(reported, tmp_path):
    release = write_release(tmp_path / "out", SHAPES, reported, ReleaseOptions())
    assert not release.results.omissions
    assert not (tmp_path / "out/eval.yaml").exists()


@pytest.mark.parametrize(
    ("entry", "model_id"),
    [
        ({"model": "gpt-5"}, "openai/gpt-5"),
        ({"model": "gpt-5", "base_url": "http://gpu:8000/v1"}, "gpt/gpt-5"),
        ({"backend": "gemini", "model": "gemini-3-pro"}, "google/gemini-3-pro"),
        ({"backend": "transformers", "model": "Qwen/Qwen3-VL-2B"}, "Qwen/Qwen3-VL-2B"),
        ({"model": "Qwen/Qwen3-VL-2B", "parameters": {"adapter": "adapters/tuned"}}, "gpt/eye"),
        ({"backend": "transformers", "model": "/home/me/models/mine/"}, "gpt/mine"),
        ({"backend": "openai_compatible", "model": "llava:7b"}, "gpt/llava_7b"),
    ],
)
def test_a_model_is_named_by_developer_and_name(entry, model_id):
    assert find_model_id(EYE.model_copy(update=entry)) == model_id


def test_a_reply_that_holds_a_key_is_refused(reported, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "I see it")
    with pytest.raises(ReleaseRefused, match=r"_samples.jsonl would hold the value of OPENAI_API_"):
        write_release(tmp_path / "out", RANKED, reported, ReleaseOptions())
    assert not (tmp_path / "out").exists()


def test_an_upload_says_that_answers_of_models_are_among_the_files(folder):
    repository = Repository(name="me/shapes", is_private=False)
    text = describe_upload(folder, check_folder(folder), repository)
    (line,) = (line for line in text.splitlines() if "_samples.jsonl" in line)
    assert line.endswith(", the stored answers of models")
    assert "No answers of models" not in text


@pytest.mark.slow
def test_every_eval_evers_validator_accepts_the_records(folder, tmp_path):
    records = folder / "results/every_eval_ever"
    path, record, _ = read_record(folder)
    with harnesses.open_process(tmp_path / "home") as process:
        problems = process.submit(validate_records, records).result()
        assert len(problems) == 2
        assert not any(problems.values())
        record["evaluation_results"][0]["score_details"]["score"] = 1.5
        path.write_text(json.dumps(record))
        assert any(process.submit(validate_records, records).result().values())
