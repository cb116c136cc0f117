"""The assets of cases: files as POPE, MMVP and VHTest have them, negations by a model, reviews."""

import csv
import io
import json

import dagster as dg
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assets.kit.benchmarks import build_planners
from assets.kit.collections import collection_asset
from assets.kit.step_asset import build_step_asset
from assets.kit.step_run import StepRun
from assets.planning import Task, quote_tasks
from assets.vhexpansion.benchmark import BENCHMARK
from assets.vhexpansion.common import dataset_partitions, load_question_collections
from assets.vhexpansion.common_perturbations import CommonPerturbations
from assets.vhexpansion.negated_cases import NegatedCases
from assets.vhexpansion.seed_cases import SEED_CASES, SeedCases
from generators.prompts.negation import write_negation_prompt
from resources.collections import CollectionError
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from tests.assets.plans import plan_context
from tests.assets.vhexpansion.cases import NEGATION_KEYS, case
from tests.providers import Provider
from tests.runs import failure, metadata

pytestmark = pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run")
# Dagster's own, while it makes a resource that is part of another one.

GRAMMAR = Model(
    name="grammar", backend="stand_in", model="grammar", family="stand_in", roles=("writer",)
)
COLLECTIONS = """
- name: pope
  path: pope.json
  images: pictures
  columns: {image: image, question: text, answer: label, name: question_id}
- name: mmvp
  path: Questions.csv
  images: pictures
  columns: {image: "{Index}.png", question: Question, options: Options, answer: Correct Answer}
- name: vhtest
  path: vhtest.parquet
  columns: {image: image, question: yes_no_question, answer: yes_no_ground_truth, domain: category}
- name: latin
  path: latin.csv
  images: pictures
  encoding: latin-1
  columns: {image: image, question: frage, answer: antwort}
- name: captions
  path: latin.csv
  images: pictures
  columns: {image: image, text: frage}
"""
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
POPE = [
    {"question_id": 1, "image": "1.png", "text": "Is there a dog in the image?", "label": "yes"},
    {"question_id": 2, "image": "1.png", "text": "Is there a cat in the image?", "label": "no"},
    {"question_id": 3, "image": "2.png", "text": "Is there an owl in the image?", "label": "no"},
    {"question_id": 4, "image": "gone.png", "text": "Is there a cat in it?", "label": "no"},
    {"question_id": 5, "image": "2.png", "text": "Is there a cow in the image?", "label": "maybe"},
    {"question_id": 6, "image": "1.png", "text": "Is there a dog in the image?", "label": "yes"},
    {"question_id": 7, "image": "2.png", "text": "Name the animal in the image.", "label": "yes"},
]
MMVP = """Index,Question,Options,Correct Answer
1,Is the door open or closed?,(a) Open (b) Closed,(a)
2,Is the door open or closed?,(a) Open (b) Closed,(b)
3,From which angle is it?,(a) Front (b) Side,(b)
"""


def picture(level):
    file = io.BytesIO()
    Image.linear_gradient("L").resize((40, 30)).point(lambda p: (p + level) % 256).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Runs assets of cases on collections of a few rows, in a root of its own."""
    (tmp_path / "collections.yaml").write_text(COLLECTIONS)
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "collections.yaml"))
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number in (1, 2, 3):
        (pictures / f"{number}.png").write_bytes(picture(40 * number))
    (tmp_path / "pope.json").write_text("".join(f"{json.dumps(each)}\n" for each in POPE))
    (tmp_path / "Questions.csv").write_text(MMVP)
    asked = ["Are there 5 spots?", "Is the text 'A'?", None]
    rows = {
        "image": [{"bytes": picture(9), "path": "a"}, {"bytes": picture(99), "path": "b"}, None],
        "category": ["counting", "OCR", "OCR"],
        "yes_no_question": asked,
        "yes_no_ground_truth": ["Yes", "No", None],
    }
    pq.write_table(pa.table(rows), tmp_path / "vhtest.parquet")
    (tmp_path / "latin.csv").write_bytes(
        "image,frage,antwort\n1.png,Is the Käse blue?,no\n".encode("latin-1")
    )
    return Lab(tmp_path)


class Lab:
    def __init__(self, folder):
        self.folder, self.root = folder, folder / "data"

    def collect(self, dataset, instance=None):
        """Make the table of a collection."""
        given = {"resources": build_default_resources(str(self.root)), "run_config": _QUIET}
        assert dg.materialize(
            [collection_asset(load_question_collections()[dataset])], instance=instance, **given
        ).success

    def made(self, dataset, *steps, models=(GRAMMAR,), config=None):
        """The tables of some steps, by name, and the run."""
        configs = {
            f"vhexpansion__{name}": {"config": each} for name, each in (config or {}).items()
        }
        found = [step(Catalog(models)) for step in steps]
        with dg.DagsterInstance.ephemeral() as instance:
            self.collect(dataset, instance)
            result = dg.materialize(
                [build_step_asset(step) for step in found],
                partition_key=dataset,
                resources=build_default_resources(str(self.root)),
                instance=instance,
                run_config={"ops": configs, **_QUIET},
                raise_on_error=False,
            )
        tables = {
            step.key.path[-1]: pq.read_table(
                self.root / "vhexpansion" / step.key.path[-1] / f"{dataset}.parquet"
            ).to_pylist()
            for step in found
            if result.success
        }
        return tables, result


def test_collections_with_answers_are_datasets_beside_those_of_other_benchmarks(lab):
    names = dataset_partitions().get_partition_keys()
    assert {"flags", "animals"} <= set(names)
    assert names[-4:] == ["pope", "mmvp", "vhtest", "latin"]
    renamed = COLLECTIONS.replace("name: pope", "name: flags")
    (lab.folder / "collections.yaml").write_text(renamed)
    with pytest.raises(
        CollectionError, match="'flags' has the same name as the questions of vlmbias"
    ):
        dataset_partitions()


def test_a_dataset_depends_on_the_questions_of_its_domain_alone(lab):
    asset = build_step_asset(SeedCases(Catalog((GRAMMAR,))))
    (spec,) = asset.specs
    deps = {each.asset_key.to_user_string(): each.partition_mapping for each in spec.deps}
    assert set(deps) == {
        "vlmbias/questions",
        *(f"collections/{name}" for name in ("pope", "mmvp", "vhtest", "latin")),
    }
    mapped = deps["vlmbias/questions"].downstream_partition_keys_by_upstream_partition_key
    assert mapped["flags"] == "flags"


def test_pope_is_seeded_negated_and_perturbed(lab):
    steps = (SeedCases, NegatedCases, CommonPerturbations)
    tables, result = lab.made("pope", *steps)
    assert result.success
    seeds = tables["seed_cases"]
    assert [(row["case_id"], row["outcome"]) for row in seeds] == [
        ("pope/1", "taken"),
        ("pope/2", "taken"),
        ("pope/3", "taken"),
        ("pope#4", "rejected"),
        ("pope/5", "rejected"),
        ("pope#6", "rejected"),
        ("pope/7", "taken"),
    ]
    reasons = [row["reason"] for row in seeds if row["outcome"] == "rejected"]
    assert "gone.png is not there" in reasons[0]
    assert "'maybe', neither yes nor no" in reasons[1]
    assert "It has the picture and the words of" in reasons[2]
    assert {row["image_id"] for row in seeds[:3]} == {"pope/1.png", "pope/2.png"}
    negated = {row["case_id"]: row for row in tables["negated_cases"]}
    assert negated["pope/1"]["negated_question"] == "Is there no dog in the image?"
    assert [row["negated_answer"] for row in negated.values()] == ["no", "yes", "yes", None]
    assert negated["pope/7"]["outcome"] == "rejected"
    assert "It does not end with a question mark" in negated["pope/7"]["reason"]
    pictures = tables["common_perturbations"]
    assert len(pictures) == 2 * 4
    assert {row["outcome"] for row in pictures} == {"perturbed"}
    assert {(row["width"], row["height"], row["readable"]) for row in pictures} == {(40, 30, None)}
    assert len({row["sha256"] for row in pictures}) == 8
    checks = {each.check_name: each for each in result.get_asset_check_evaluations()}
    assert not checks["every_case_is_taken"].passed
    assert checks["negations_hold"].passed
    again, _ = lab.made("pope", *steps)
    assert again == tables


def test_options_latin_1_and_parquet_are_read(lab):
    (tables, result) = lab.made("mmvp", SeedCases, NegatedCases)
    assert result.success
    assert {row["answer"] for row in tables["seed_cases"][:2]} == {"yes", "no"}
    assert tables["seed_cases"][2]["outcome"] == "rejected"
    tables, _ = lab.made("latin", SeedCases, NegatedCases)
    (row,) = tables["negated_cases"]
    assert row["negated_question"] == "Is it false that the Käse is blue?"
    tables, _ = lab.made("vhtest", SeedCases, NegatedCases)
    assert [(row["topic"], row["outcome"]) for row in tables["seed_cases"]] == [
        ("counting", "taken"),
        ("OCR", "taken"),
        (None, "rejected"),
    ]
    assert [row["negated_question"] for row in tables["negated_cases"]] == [
        "Is it false that there are 5 spots?",
        "Is it false that the text is 'A'?",
    ]


def writes(received):
    """A writer that mends what it is told, adds a word to owls, and never negates cats."""
    asked = received.texts[0].rpartition("The question is: ")[2].removesuffix(".")
    if "Name the animal" in asked:
        return "No."
    if "cat" in asked:
        return asked
    if "owl" in asked and len(received.texts) == 1:
        return "Is there no big owl in the image?"
    return f'"{asked.replace("a dog", "no dog").replace("an owl", "no owl")}"'


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    with Provider(answer=writes) as server:
        yield server


def pen(server):
    price = {"input_per_million": 1.0, "output_per_million": 1.0}
    known = {"model": "pen-1", "family": "pen", "roles": ("writer",), "longest_output": 50}
    return Model(name="pen", backend="openai", base_url=server.openai_url, price=price, **known)


def test_a_model_is_asked_in_the_paper_s_words_and_again_with_the_reason(lab, server):
    models, config = (GRAMMAR, pen(server)), {"negated_cases": {"writer": "pen"}}
    lab.collect("pope")
    key = dg.AssetKey(["vhexpansion", "negated_cases"])
    with plan_context(lab.root) as sources:
        (line,) = quote_tasks(
            build_planners(Catalog(models)), sources, [Task(key, "pope", {"writer": "pen"})]
        ).lines
    assert (line.requests, line.follow_ups) == (4, 8)
    tables, result = lab.made("pope", SeedCases, NegatedCases, models=models, config=config)
    assert result.success
    rows = {row["case_id"]: row for row in tables["negated_cases"]}
    first = {each.texts[0] for each in server.received}
    assert write_negation_prompt("Is there a dog in the image?") in first
    assert [rows[f"pope/{n}"]["outcome"] for n in (1, 2, 3, 7)] == [
        *("negated", "rejected", "negated", "rejected")
    ]
    assert [rows[f"pope/{n}"]["attempts"] for n in (1, 2, 3, 7)] == [1, 3, 2, 3]
    assert rows["pope/2"]["reason"] == "a negation: it is the question itself."
    assert rows["pope/3"]["broken"] == ["nothing added"]
    assert rows["pope/3"]["negated_question"] == "Is there no owl in the image?"
    assert rows["pope/7"]["broken"] == ["one question"]
    assert len(rows["pope/3"]["calls"]) == 2
    assert {row["prompt_version"] for row in rows.values()} == {"1"}
    (told_again,) = [each for each in server.received if "adds 'big'" in each.texts[-1]]
    assert told_again.texts[-1].startswith("nothing added: it adds 'big'. Rephrase it again")
    assert server.count == 1 + 3 + 2 + 3
    config["negated_cases"]["quote_unnegatable"] = True
    tables, result = lab.made("pope", SeedCases, NegatedCases, models=models, config=config)
    assert result.success
    rows = {row["case_id"]: row for row in tables["negated_cases"]}
    quoted = rows["pope/2"]
    assert (quoted["outcome"], quoted["rule"], quoted["reason"]) == ("negated", "quoted", None)
    assert quoted["negated_question"] == (
        f'Is "no" the right answer to the question "{quoted["question"]}"?'
    )
    assert {quoted["answer"], quoted["negated_answer"]} == {"yes", "no"}
    assert rows["pope/1"]["rule"] == "no"
    assert server.count == 1 + 3 + 2 + 3
    lab.made("pope", SeedCases, NegatedCases, models=models, config=config)
    assert server.count == 9


def test_a_question_about_many_pictures_is_asked_for_again_once():
    step = NegatedCases(Catalog((GRAMMAR,)))
    asked = ["Is there a dog?", "Is there a cat?", "Is there a dog?"]
    cases = [
        case(number, question=question, outcome="taken") for number, question in enumerate(asked)
    ]
    tables = {"cases": SEED_CASES.build_table(cases, NEGATION_KEYS).to_pandas()}
    work = StepRun("zoo", step.config(), tables, step.inputs, None, None, None, None, None)
    assert [step.forecast.may_have_follow_up(row) for row in step.rows(work)] == [True, True, False]


def test_what_people_reject_leaves_the_table(lab):
    steps = (SeedCases, NegatedCases)
    _, result = lab.made("pope", *steps)
    folder = lab.root / "reviews" / "vhexpansion" / "pope" / "grammar"
    assert metadata(result, "negated_cases", "vhexpansion")["sheet"] == str(
        folder / "sheet-to-review.csv"
    )
    lines = list(csv.DictReader((folder / "sheet-to-review.csv").read_text().splitlines()))
    assert {line["negated_question"] for line in lines} == {
        f"Is there no {each} in the image?" for each in ("dog", "cat", "owl")
    }

    def fills(name, **words):
        filled = [
            line | {"verdict": words[animal], "reason": "odd" if words[animal] == "reject" else ""}
            for line in lines
            for animal in words
            if animal in line["negated_question"]
        ]
        pd.DataFrame(filled).to_csv(folder / f"{name}.csv", index=False)

    fills("anna", dog="accept", cat="reject", owl="reject")
    fills("ben", dog="accept", cat="accept", owl="accept")
    fills("carl", dog="accept", owl="accept")
    tables, result = lab.made("pope", *steps)
    rows = {row["question"].split()[3]: row for row in tables["negated_cases"] if row["answer"]}
    assert rows["cat"]["outcome"] == "left out"
    assert rows["cat"]["reason"] == "odd"
    assert (rows["dog"]["outcome"], rows["owl"]["outcome"]) == ("negated", "negated")
    assert rows["owl"]["accepted_by"] == ["ben", "carl"]
    assert rows["owl"]["rejected_by"] == ["anna"]
    said = metadata(result, "negated_cases", "vhexpansion")
    assert (said["reviewed"], said["accepted_by_all"], said["unanimous"]) == (3, 1, 1)
    assert said["left_out"] == 1
    assert "| anna | ben | 3 |" in said["agreement"]
    stale = lines[0] | {"pair": f"{lines[0]['pair'].partition('#')[0]}#00000000"}
    pd.DataFrame([stale | {"verdict": "accept"}]).to_csv(folder / "dora.csv", index=False)
    _, result = lab.made("pope", *steps)
    assert not result.success
    assert "has other words now" in failure(result)


def test_the_job_of_cases_is_there():
    (job_spec,) = [each for each in BENCHMARK.job_specs() if each.job_name == "vhexpansion_cases"]
    assert job_spec.partitions == dataset_partitions()
