"""Judges on new pictures: who is called worse, who gets no verdict, and why."""

import pytest

from assets.vlmbias.answers import ANSWERS
from assets.vlmbias.common import asset_key
from assets.vlmbias.pages.rerolled import RerollFindings
from assets.vlmbias.rerolled_accuracy import load_comparison
from assets.vlmbias.rerolled_questions import REROLLED_QUESTIONS
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot
from tests.assets.forged_tables import store as write

TOPICS = ("chess_pieces", "patterned_grids")
PLACES = 12


def model(name):
    return Model(name=name, backend="openai", model=name, family="some", roles=("judge",))


def question(topic, place, number, side):
    """Q1 or Q2 about a picture; those of the set and the new ones have other names."""
    return {
        "image_id": f"{topic}/{side}-{place}/384",
        "base_id": f"{topic}/{side}-{place}",
        "sha256": f"{side}{place}",
        "domain": topic,
        "variant": "counterfactual",
        "question_id": f"Q{number}",
        "question": f"How many in {side}-{place}?",
        "seed": 7 if side == "new" else 0,
        "released_id": f"{topic}/old-{place}/384",
        "released_sha256": f"old{place}",
        "places": f"board: {place}",
        "released_seed": 0,
    }


@pytest.fixture
def store(tmp_path):
    """Writes the answers of a judge: whether each place is right, on both sides."""

    def keep(name, released, fresh, change=lambda row: row):
        for topic in TOPICS:
            asked = [question(topic, place, n, "new") for place in range(PLACES) for n in (1, 2)]
            write(tmp_path, asset_key("rerolled_questions"), topic, REROLLED_QUESTIONS, asked)
            for asset, side, right in (
                ("answers", "old", released),
                ("rerolled_answers", "new", fresh),
            ):
                rows = [
                    question(topic, place, n, side)
                    | {"prompting": "baseline", "outcome": "answered", "score": right(place)}
                    | {"entry_version": "1", "served_model": "v1"}
                    for place in range(PLACES)
                    for n in (1, 2)
                ]
                answered = [
                    {column: row.get(column) for column in ANSWERS.columns}
                    for row in map(change, rows)
                    if row
                ]
                write(tmp_path, asset_key(f"{asset}_{name}"), topic, ANSWERS, answered)

    keep.home = DataRoot(root=str(tmp_path))
    return keep


def judge_all(store, *names):
    comparison = load_comparison(store.home, [model(name) for name in names])
    return {row["model"]: row for row in comparison.build_rows() if "finding" in row}


def test_a_judge_that_knows_the_set_is_named_and_a_clean_one_is_not(store):
    store("knows", lambda place: 1.0, lambda place: float(place == 0))
    store("clean", lambda place: float(place % 2), lambda place: float(place % 2 == 0))
    rows = judge_all(store, "knows", "clean", "unasked")
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "knows": "worse",
        "clean": "no worse",
    }
    assert rows["knows"]["difference"] == pytest.approx(-11 / 12)
    assert rows["knows"]["finding"].startswith(
        "knows does worse on new pictures of chess pieces and patterned grids (−91.7 ["
    )
    assert rows["knows"]["finding"].endswith(
        "] points, p < 0.001 corrected for 2 judges): as if it had seen the set's."
    )
    assert "clean is not shown to be worse" in rows["clean"]["finding"]
    assert "a drop of up to" in rows["clean"]["finding"]
    assert (rows["knows"]["seed"], rows["knows"]["released_seed"]) == (7, 0)


def test_a_judge_that_is_the_same_or_better(store):
    store("better", lambda place: 0.0, lambda place: float(place != 0))
    assert judge_all(store, "better")["better"]["verdict"] == "better"
    assert judge_all(store, "better")["better"]["finding"].endswith("points): no sign of memory.")


def unparse(row):
    wrong = {"outcome": "unparsed", "score": 0.0}
    return row | wrong if "new-1" in row["image_id"] else row


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda row: (
                row | {"outcome": "unparsed", "score": 0.0} if "new-1" in row["image_id"] else row
            ),
            "12 of 48 answers missing",
        ),
        (
            lambda row: None if row["image_id"].endswith(("new-1/384", "new-2/384")) else row,
            "8 of 48 answers missing",
        ),
        (
            lambda row: row | {"served_model": "v2"} if "new" in row["image_id"] else row,
            "the provider served other models for the two sets: v1 and v2",
        ),
        (
            lambda row: row | {"entry_version": "2"} if "new" in row["image_id"] else row,
            "its entry in models.yaml has changed between the two sets",
        ),
        (
            lambda row: row | {"sha256": "older"} if "old" in row["image_id"] else row,
            "no answer to 48 requests",
        ),
    ],
)
def test_what_does_not_compare_gets_no_verdict(store, change, reason):
    store("some", lambda place: 1.0, lambda place: 0.0, change)
    row = judge_all(store, "some")["some"]
    assert row["verdict"] == "none"
    assert row["finding"] == f"some: no verdict, {reason}."


def test_few_places_get_no_verdict_and_other_promptings_do_not_count(store):
    def keep(row):
        place = int(row["base_id"].rpartition("-")[2])
        return row if place < 4 else row | {"prompting": "debiased"}

    store("some", lambda place: 1.0, lambda place: 0.0, keep)
    row = judge_all(store, "some")["some"]
    assert (row["verdict"], row["places"]) == ("none", 8)
    assert row["finding"] == (
        "some: no verdict, 32 of 48 answers missing; 8 of at least 10 pairs of places."
    )


def test_nobody_has_answered(store):
    assert load_comparison(store.home, [model("some")]) is None


def test_the_page_notes_at_a_judges_accuracy_what_it_loses(store):
    store("knows", lambda place: 1.0, lambda place: float(place == 0))
    store("clean", lambda place: float(place % 2), lambda place: float(place % 2 == 0))
    findings = RerollFindings([*judge_all(store, "knows", "clean").values()])
    assert findings.note("knows").startswith("−91.7 [")
    assert findings.note("knows").endswith("points on new pictures: may know the set")
    assert findings.note("clean") == findings.note("unasked") == ""
    assert findings.scope.startswith("Seed 0 drew the set, seed 7 the new pictures. Chess pieces")
    lines = findings.table.bodies[0].lines
    assert [cell.text for cell in lines[0].cells] == [
        "100.0\u00a0%",
        "8.3\u00a0%",
        "−91.7",
        "−91.7",
        "48",
    ]
