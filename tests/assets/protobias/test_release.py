"""The released tables of ProtoBias: pairs that the filter kept, and accepted triplets."""

import pytest

from assets.kit.licences import OWN
from assets.protobias.common import FILTERED_KEY, TRIPLETS_KEY
from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.protobias.prompt_triplets import TRIPLETS
from assets.protobias.release import RELEASE_TABLES
from tests.assets.forged_tables import flatten, inputs, read_all, store

PAIRS, TRIPLET_TABLE = RELEASE_TABLES


def _picture(concept, sample, side, **cells):
    pair = f"{concept}/{sample}"
    return {
        "domain": "animals",
        "painter": "artist",
        "concept_id": concept,
        "pair_id": pair,
        "side": side,
        "sha256": f"{pair} {side}",
        "prompt": f"A {side} sentence.",
        "text": "A bird.",
        "filter_score": 9 if side == "correct" else 8,
        "pair_kept": True,
        "is_stand_in": False,
    } | cells


@pytest.fixture
def concepts():
    return [f"penguin-{number}" for number in range(40)]


@pytest.fixture
def stored(tmp_path, concepts):
    rows = [
        _picture(concept, sample, side, pair_kept=sample != 1)
        for concept in concepts
        for sample in range(3)
        for side in ("correct", "adversarial")
    ]
    store(tmp_path, FILTERED_KEY, "animals|artist", FILTERED_COLUMNS, rows)
    store(
        tmp_path,
        FILTERED_KEY,
        "animals|sketch",
        FILTERED_COLUMNS,
        [
            _picture("robin", 0, side, painter="sketch", is_stand_in=True)
            for side in ("adversarial", "correct")
        ],
    )
    triplets = [
        {"concept_id": concept, "domain": "animals", "writer": writer, "outcome": outcome}
        for concept, writer, outcome in (
            ("penguin-0", "grammar", "accepted"),
            ("penguin-1", "artist", "accepted"),
            ("penguin-2", "artist", "rejected"),
        )
    ]
    store(tmp_path, TRIPLETS_KEY, "animals", TRIPLETS, triplets)
    return inputs(tmp_path, "animals", "animals|artist", "animals|sketch")


def test_pairs_have_both_pictures_with_their_scores(stored, concepts):
    rows = flatten(read_all(PAIRS, stored))
    expected = {f"artist/{concept}/{sample}" for concept in concepts for sample in (0, 2)}
    assert {row.row_id for row in rows} == expected | {"sketch/robin/0"}
    assert len(rows) == len(expected) + 1
    for row in rows:
        for side, score in (("correct", 9), ("adversarial", 8)):
            assert row.cells[f"{side}_image"] == f"{row.cells['pair_id']} {side}"
            assert row.cells[f"{side}_filter_score"] == score


def test_samples_of_a_concept_are_in_one_split(stored):
    rows = read_all(PAIRS, stored)
    concepts = [{row.base_image for row in split_rows} for split_rows in rows.values()]
    assert all(concepts)
    assert concepts[0].isdisjoint(concepts[1])


def test_stand_ins_are_marked_and_painters_named(stored):
    for row in flatten(read_all(PAIRS, stored)):
        is_stand_in = row.cells["painter"] == "sketch"
        assert row.is_stand_in == is_stand_in
        assert row.parts == ((OWN,) if is_stand_in else (OWN, "artist"))


def test_triplets_that_rules_accepted(stored):
    rows = {row.row_id: row for row in flatten(read_all(TRIPLET_TABLE, stored))}
    assert {name: row.parts for name, row in rows.items()} == {
        "penguin-0": (OWN,),
        "penguin-1": (OWN, "artist"),
    }
