"""The released tables of VHExpansion: cases with their negations, also in POPE's columns."""

from collections import Counter, defaultdict

import pandas as pd
import pytest

from assets.kit.licences import GLYPHS, OWN
from assets.vhexpansion.common_perturbations import PERTURBED_PICTURE_COLUMNS
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.release import RELEASE_TABLES
from assets.vhexpansion.release_rows import CASES_KEY, PERTURBED_KEY
from resources.models.catalog import Model
from tests.assets.forged_tables import flatten, inputs, read_all, store
from tests.runs import STAND_INS, TOPIC, copied, failure, materialize

POPE, CASES, PERTURBED = RELEASE_TABLES
GRAMMAR = Model(
    name="grammar", backend="stand_in", model="grammar", family="stand_in", roles=("writer",)
)
STEPS = ("seed_cases", "negated_cases", "common_perturbations")


@pytest.fixture(scope="module")
def root(made, tmp_path_factory):
    root = copied(made, tmp_path_factory.mktemp("cases") / "root")
    result = materialize(
        root,
        *STEPS,
        topic=TOPIC,
        group="vhexpansion",
        models=(*STAND_INS, GRAMMAR),
        config={"common_perturbations": {"reread": False, "perturbations": ["jpeg"]}},
    )
    assert result.success, failure(result)
    return root


def _stored(root, name):
    return pd.read_parquet(root / "vhexpansion" / name / f"{TOPIC}.parquet")


def test_popes_rows_are_cases_and_negations(root):
    cases = _stored(root, "negated_cases").query("outcome == 'negated'")
    rows = flatten(read_all(POPE, inputs(root, TOPIC)))
    assert [*POPE.columns.columns] == [
        *("id", "question_id", "question", "answer", "image_source", "image", "category"),
    ]
    expected = [
        *zip(cases["question"], cases["answer"], cases["sha256"], strict=True),
        *zip(cases["negated_question"], cases["negated_answer"], cases["sha256"], strict=True),
    ]
    columns = ("question", "answer", "image")
    assert Counter(tuple(row.cells[name] for name in columns) for row in rows) == Counter(expected)
    assert Counter(row.cells["category"] for row in rows) == {
        "original": len(cases),
        "negated": len(cases),
    }


def test_a_pair_has_opposite_answers_about_one_picture(root):
    pairs = defaultdict(list)
    for row in flatten(read_all(CASES, inputs(root, TOPIC))):
        pairs[row.cells["case_id"]].append(row)
    assert pairs
    for original, negated in pairs.values():
        assert {original.cells["ground_truth"], negated.cells["ground_truth"]} == {"Yes", "No"}
        assert original.cells["image"] == negated.cells["image"]
        assert original.base_image == negated.base_image
        assert original.cells["prompt"].startswith(original.cells["question"])


def test_proofs_and_parts_are_those_of_the_pictures(root):
    for row in flatten(read_all(CASES, inputs(root, TOPIC))):
        assert row.proof == "pixels"
        assert set(row.parts) == {OWN, GLYPHS}
        assert not row.is_stand_in


def test_perturbed_pictures_are_asked_about_in_both_forms(root):
    cases = _stored(root, "negated_cases").query("outcome == 'negated'")
    pictures = _stored(root, "common_perturbations").set_index("image_id")["sha256"]
    rows = flatten(read_all(PERTURBED, inputs(root, TOPIC)))
    expected = Counter(pictures[cases["image_id"]].tolist() * 2)
    assert Counter(row.cells["image"] for row in rows) == expected
    assert {row.cells["perturbation"] for row in rows} == {"jpeg"}
    assert len({row.row_id for row in rows}) == len(rows)


def test_a_picture_that_no_longer_shows_its_truth_is_left_out(root, tmp_path):
    changed = copied(root, tmp_path / "root")
    pictures = _stored(root, "common_perturbations").assign(readable=False)
    (first, *_) = pictures["image_id"]
    pictures.loc[pictures["image_id"] == first, "readable"] = True
    store(changed, PERTURBED_KEY, TOPIC, PERTURBED_PICTURE_COLUMNS, pictures)
    rows = flatten(read_all(PERTURBED, inputs(changed, TOPIC)))
    assert {row.cells["image_id"] for row in rows} == {first}


@pytest.mark.parametrize("dataset", ["photographs", "animals"])
def test_a_collection_is_its_own_source_and_an_unknown_picture_unproved(tmp_path, dataset):
    case = {
        "case_id": f"{dataset}/1",
        "dataset": dataset,
        "image_id": f"{dataset}/1.jpg",
        "sha256": "picture",
        "question": "Is there a dog?",
        "answer": "yes",
        "negated_question": "Is there no dog?",
        "negated_answer": "no",
        "writer": "artist",
        "outcome": "negated",
        "is_stand_in": False,
    }
    rejected = case | {"case_id": f"{dataset}/2", "outcome": "rejected"}
    store(tmp_path, CASES_KEY, dataset, NEGATED_CASE_COLUMNS, [case, rejected])
    rows = flatten(read_all(CASES, inputs(tmp_path, dataset)))
    assert len(rows) == 2
    if dataset == "photographs":
        assert {(row.proof, row.parts) for row in rows} == {
            ("source", (OWN, "photographs", "artist"))
        }
    else:
        assert {row.proof for row in rows} == {None}
        assert all(row.unfit_reason for row in rows)
