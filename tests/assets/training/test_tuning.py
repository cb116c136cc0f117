"""Fine-tuning on VHExpansion's cases, on a tiny model: arms, split, adapter, what it changes."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from dagster import AssetKey

from assets.kit.collections import COLLECTION_COLUMNS
from assets.kit.tuning import EvaluationCase, TuningCase, TuningWording
from assets.training.tuning.arms import (
    GeneralQuestion,
    case_rows,
    find_shared_pictures,
    general_rows,
    held_out_rows,
    split_general,
)
from assets.training.tuning.training_cases import check_no_overlap
from assets.vhexpansion.training import TUNING
from resources.models.backends.adapters import read_checked_record
from resources.models.catalog import load_catalog
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.training import launch
from tests import tiny
from tests.assets.training.test_protoscore import here
from tests.assets.vhexpansion.cases import reference
from tests.providers.pictures import png
from tests.runs import TOPIC, checks, copied, failure, materialize, metadata, rewrite, table

pytestmark = pytest.mark.slow

GROUP = "vhexpansion"
RECIPE = {
    "steps": 1,
    "per_device_batch_size": 2,
    "gradient_accumulation_steps": 1,
    "rank": 4,
    "alpha": 8,
    "gradient_checkpointing": False,
}
CELL = "expanded|2e-3"


def case(number, base=None, **columns):
    """A case in five wordings of each form."""
    wordings = [
        TuningWording(form, version, f"{form} {version} of {number}?", answer)
        for form, answer in (("original", "{Yes}"), ("negated", "{No}"))
        for version in range(5)
    ]
    picture = f"sha {number}"
    known = {"base": base or f"base {number}", "sha256": picture, "perturbed": f"{picture} pgd"}
    return TuningCase(
        f"case {number}", "zoo", wordings=wordings, is_stand_in=False, **known | columns
    )


def evaluated(number, base=None, picture=None):
    where = base or f"base {number}", picture or f"sha {number}"
    return EvaluationCase(f"case {number}", "zoo", *where, is_stand_in=False)


def test_200_cases_become_800_and_then_4000():
    rows = [row for number in range(200) for row in case_rows(case(number), "pgd")]
    arms = pd.DataFrame(rows).groupby("arm")
    assert arms.size().to_dict() == {"original": 200, "expanded": 4000}
    expanded = arms.get_group("expanded")
    as_they_stand = expanded[expanded["version"].eq(0)]
    assert len(as_they_stand) == 800
    assert as_they_stand.groupby(["form", "perturbation"]).size().to_dict() == {
        ("negated", "none"): 200,
        ("negated", "pgd"): 200,
        ("original", "none"): 200,
        ("original", "pgd"): 200,
    }
    assert set(arms.get_group("original")["question"]) == {
        f"original 0 of {n}?" for n in range(200)
    }
    assert set(expanded[expanded["form"].eq("negated")]["answer"]) == {"{No}"}


def test_the_split_is_by_base_picture_and_never_by_row():
    training = list(case_rows(case(0, base="board"), "pgd"))
    every = [
        evaluated(0, base="board"),
        evaluated(1, base="board"),  # another size, or another question
        evaluated(2, picture="sha 0"),  # the same picture in another dataset
        evaluated(3),
    ]
    assert [row["case_id"] for row in held_out_rows(every, training)] == ["case 3"]
    assert find_shared_pictures([*training, *held_out_rows(every, training)]) == []


def test_an_overlap_is_blocked_and_names_its_rows():
    training = list(case_rows(case(0, base="board"), "pgd"))
    doctored = list(held_out_rows([evaluated(7, base="board"), evaluated(8, picture="sha 0")], []))
    found = check_no_overlap([*training, *doctored])
    assert not found.passed
    assert set(find_shared_pictures([*training, *doctored[:1]])) == {
        (arm, "case 0", "base picture", "case 7") for arm in ("original", "expanded")
    }
    assert {shared for _, _, shared, _ in find_shared_pictures([*training, *doctored[1:]])} == {
        "picture"
    }


def test_general_questions_are_split_by_picture_and_are_about_no_picture_of_a_case():
    questions = [GeneralQuestion(f"q{n}", "vqa", f"sha {n // 3}", "?", "yes") for n in range(30)]
    found = split_general(questions, {"sha 0"}, 12, 4)
    assert len(found.training) == 12
    assert len(found.held_out) == 6
    apart = {each.sha256 for each in found.held_out}
    assert not apart & {each.sha256 for each in found.training}
    assert "sha 0" not in apart | {each.sha256 for each in found.training}
    fewer = split_general(questions, {"sha 0"}, 5, 4)
    assert fewer.training == found.training[:5]
    rows = list(general_rows(found.training, ["original", "expanded"]))
    assert len(rows) == 24


@pytest.fixture(scope="module")
def root(made, tmp_path_factory):
    """Cases, perturbed pictures, general questions and a base, and what all of it was made to."""
    root = copied(made, tmp_path_factory.mktemp("tuning") / "root")
    jpeg = {"perturbations": ["jpeg"], "reread": False}
    names = ("seed_cases", "negated_cases", "common_perturbations", "rephrased_cases")
    run(root, *names, topic=TOPIC, common_perturbations=jpeg, rephrased_cases={"cases": 2})
    write_questions(root)
    tiny.save_llava(root / "base", always="{Yes}", max_new_tokens=4)
    return root


def write_questions(root):
    """A collection of six general questions about pictures of their own."""
    images = ImageStore(root=str(root))
    rows = [
        {"image_id": f"vqa/{n}", "outcome": "taken", "sha256": images.put(png(f"general {n}"))}
        | {"question": "Is it a picture?", "answer": "yes"}
        for n in range(6)
    ]
    path = root / "collections" / "vqa.parquet"
    path.parent.mkdir()
    pq.write_table(COLLECTION_COLUMNS.build_table(rows), path)


@pytest.fixture(scope="module")
def trained(root):
    """The arms, and one adapter."""
    arms = {"perturbation": "jpeg", "vqa": "vqa", "vqa_triples": 3, "vqa_held_out": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "run_training", here)
        patch.setenv("COUNTERFACTORY_HOME", str(root))
        cases = run(root, "training_cases", training_cases=arms)
        done = run(root, "adapter", topic=CELL, adapter={**RECIPE, "base": str(root / "base")})
    return cases, done


def run(root, *names, topic=None, models=(), **config):
    catalog = (reference("gullible"), reference("grammar", "writer"), *models)
    result = materialize(root, *names, topic=topic, models=catalog, group=GROUP, config=config)
    assert result.success, failure(result)
    return result


def test_arms_are_made_of_tables_and_apart_from_what_is_held_out(root, trained):
    cases, _ = trained
    assert checks(cases)["no_overlap"] is True
    rows = pd.read_parquet(root / GROUP / "training_cases.parquet")
    arms = rows.groupby(["arm", "kind"]).size().to_dict()
    assert arms[("original", "case")] == 2
    assert arms[("expanded", "case")] == 2 * 4 * 5
    assert arms[("original", "vqa")] == arms[("expanded", "vqa")] == 3
    assert arms[("held out", "vqa")] == 2
    negated = pd.read_parquet(table(root, "negated_cases", group=GROUP))
    training = rows[rows["arm"].ne("held out")]
    held = rows[rows["arm"].eq("held out") & rows["kind"].eq("case")]
    assert 0 < len(held) < negated["outcome"].eq("negated").sum()
    assert not set(held["base"]) & set(training["base"])
    first = training[training["case_id"].str.startswith(TOPIC)].iloc[0]
    assert first["question"].endswith("Answer in curly brackets, e.g., {Yes} or {No}.")
    assert first["answer"] in {"{Yes}", "{No}"}
    # Another size of one scene is no other picture.
    assert not any(each.rpartition("/")[2].isdigit() for each in rows["base"] if TOPIC in each)


def test_an_adapter_says_what_it_was_made_of_and_how_it_is_listed(root, trained):
    _, done = trained
    told = metadata(done, "adapter", GROUP)
    assert told["steps"] == 1
    (row,) = pd.read_parquet(root / GROUP / "adapter" / "expanded" / "2e-3.parquet").to_dict(
        "records"
    )
    assert (row["arm"], row["learning_rate"], row["rows"]) == ("expanded", 2e-3, 43)
    record = json.loads((root / row["adapter"] / "record.json").read_text())
    assert record["recipe"]["learning_rate"] == 2e-3
    assert record["datasets"] == [TOPIC, "vqa"]
    rows = pd.read_parquet(root / GROUP / "training_cases.parquet").query("arm == 'expanded'")
    assert record["trained_on"] == sorted({*rows["base"], *rows["original"]})
    assert "not judged yet" in (root / row["adapter"] / "README.md").read_text()


def test_it_is_judged_as_any_judge_and_compared_on_held_out_cases(root, trained, monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(root))
    _, done = trained
    entries = metadata(done, "adapter", GROUP)["models_yaml"]
    path = root / "models.yaml"
    path.write_text(entries.removeprefix("```yaml\n").removesuffix("```"))
    assert len(yaml.safe_load(path.read_text())) == 2
    base, judge = load_catalog(path).models
    names = [f"answers_{each.name}" for each in (base, judge)]
    few = {"perturbations": ["none"], "repeats": 1}
    some = dict.fromkeys(names, few)
    run(root, *names, "symmetry", topic=TOPIC, models=(base, judge), **some)
    measured = run(root, "mitigation", models=(base, judge))
    numbers = metadata(measured, "mitigation", GROUP)["numbers"]
    assert {line.split(" | ")[1] for line in numbers.splitlines()[2:]} == {"", "2e-3"}
    rows = pd.read_parquet(root / GROUP / "mitigation.parquet")
    held = pd.read_parquet(root / GROUP / "training_cases.parquet").query(
        "arm == 'held out' and kind == 'case'"
    )
    of_all = rows.query("measure == 'symmetric' and picture_set == 'all'").set_index("arm")
    assert of_all["cases"].to_dict() == {"before": len(held), "expanded": len(held)}
    counted = pd.read_parquet(root / GROUP / "symmetry" / f"{TOPIC}.parquet").set_index("model")
    asked = {name: int(counted.loc[[name], "cases"].max()) for name in (base.name, judge.name)}
    assert asked[judge.name] == held["dataset"].eq(TOPIC).sum() < asked[base.name]
    left_out = {name: int(counted.loc[[name], "left_out"].max()) for name in asked}
    assert left_out == {base.name: 0, judge.name: asked[base.name] - asked[judge.name]}
    # Who says yes to everything is right in no pair.
    assert of_all.loc["before", "value"] == 0
    assert pd.notna(of_all.loc["expanded", "change"])
    (place,) = {path.parent for path in root.glob("adapters/*/README.md")}
    card = (place / "README.md").read_text()
    assert f"| before | symmetric, {TOPIC}, pictures all | 0 (" in card
    assert "not judged yet" not in card
    assert card.count("## Use") == 1
    monkeypatch.setattr(launch, "run_training", lambda *_: pytest.fail("It was trained again."))
    whole = json.loads((place / "record.json").read_text())
    run(root, "adapter", topic=CELL, adapter={**RECIPE, "base": str(root / "base")})
    assert (place / "README.md").read_text() == card
    assert read_checked_record(place) == whole
    general = rows.query("measure == 'general'")
    assert set(general["reason"]) == {"it has not been asked yet"}


def test_a_picture_that_is_held_out_stops_a_training_with_its_name(root, trained, tmp_path):
    other = copied(root, tmp_path / "root")
    path = other / GROUP / "training_cases.parquet"
    held = next(row for row in pq.read_table(path).to_pylist() if row["arm"] == "held out")
    named = pq.read_table(path).to_pylist()[0]["case_id"]
    rewrite(path, lambda rows: [{**rows[0], "base": held["base"]}, *rows[1:]])
    result = materialize(
        other, "adapter", topic=CELL, group=GROUP, config={"adapter": {"base": "none"}}
    )
    assert "1 rows of training_cases share a picture with cases that are held out" in failure(
        result
    )
    assert named in failure(result)


def test_an_adapter_of_other_training_cases_is_left_out_of_mitigation(root, trained, tmp_path):
    other = copied(root, tmp_path / "root")
    path = other / GROUP / "adapter" / "expanded" / "2e-3.parquet"
    rewrite(path, lambda rows: [{**row, "data": "0" * 64} for row in rows])
    run(other, "mitigation")
    assert pd.read_parquet(other / GROUP / "mitigation.parquet").empty


def test_a_learning_rate_that_is_not_that_of_the_partition_is_refused(root, trained):
    config = {"adapter": {"base": "none", "learning_rate": 1e-4}}
    result = materialize(root, "adapter", topic=CELL, group=GROUP, config=config)
    assert "the config has the learning rate 0.0001, and the partition 0.002." in failure(result)


def test_what_is_missing_is_named_before_anything_is_made(root):
    result = materialize(root, "training_cases", group=GROUP, config={"training_cases": {}})
    assert "i_fgsm is made for an encoder. Name it in the config" in failure(result)
    config = {"training_cases": {"perturbation": "noise", "vqa_triples": 0}}
    result = materialize(root, "training_cases", group=GROUP, config=config)
    assert "none of 2 rephrased cases has a picture perturbed by noise" in failure(result)


def test_wordings_are_those_of_both_forms_as_judges_are_asked(root):
    home = DataRoot(root=str(root))
    found = TUNING.load_training_cases(home, TOPIC, "jpeg", None)
    rephrased = home.table(AssetKey([GROUP, "rephrased_cases"]), TOPIC)
    assert {each.case_id for each in found} == set(rephrased["case_id"])
    assert [len(each.wordings) for each in found] == [10, 10]
    assert all(each.perturbed for each in found)
