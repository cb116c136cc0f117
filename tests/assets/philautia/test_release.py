"""The released tables of Philautia-Eval: captions of models, their scores, and rated captions."""

import pytest

from assets.kit.licences import OWN
from assets.philautia.captions import CAPTIONS
from assets.philautia.common import asset_key
from assets.philautia.pictures import PICTURES
from assets.philautia.rated_captions import RATED_CAPTION_COLUMNS
from assets.philautia.release import RELEASE_TABLES
from assets.philautia.scores import SCORES
from tests.assets.forged_tables import flatten, inputs, read_all, store

CAPTION_TABLE, RATED_TABLE = RELEASE_TABLES
NUMBER = 30
SCORED = ("artist", "critic", "vain")


@pytest.fixture
def stored(tmp_path):
    names = [f"photographs/{number}.jpg" for number in range(NUMBER)]
    pictures = [
        {"image_id": name, "dataset": "photographs", "sha256": name[::-1], "references": ["Right."]}
        | {"outcome": "taken", "is_stand_in": False}
        for name in names
    ]
    store(tmp_path, asset_key("pictures"), "photographs", PICTURES, pictures)
    for generator in SCORED:
        captions = [
            {"image_id": name, "model": generator, "caption": f"{generator} sees {name}"}
            | {"outcome": "refused" if name == names[0] else "captioned", "is_stand_in": False}
            for name in names
        ]
        store(tmp_path, asset_key(f"captions_{generator}"), "photographs", CAPTIONS, captions)
        scores = [
            {"image_id": name, "generator": other, "setting": setting, "score": score}
            for name in names
            for other in SCORED
            for setting, score in (("reference_free", 70.0), ("reference_based", None))
        ]
        store(tmp_path, asset_key(f"scores_{generator}"), "photographs", SCORES, scores)
    rated = [
        {"image_id": name, "candidate": f"{name}#1", "sha256": name[::-1], "human_score": 0.5}
        for name in names
    ]
    store(tmp_path, asset_key("rated_captions"), "photographs", RATED_CAPTION_COLUMNS, rated)
    return inputs(tmp_path, "photographs")


def test_captions_of_models_with_their_scores(stored):
    rows = flatten(read_all(CAPTION_TABLE, stored))
    # Neither the stand-in's captions nor its scores, and no picture that a model refused.
    assert len({row.row_id for row in rows}) == len(rows) == 2 * (NUMBER - 1)
    for row in rows:
        generator, name = row.cells["generator"], row.cells["image_id"]
        assert row.cells["caption"] == f"{generator} sees {name}"
        assert row.cells["image"] == name[::-1]
        assert row.cells["evaluators"] == ["artist", "critic"]
        assert row.cells["scores"] == [70.0, 70.0]
        assert row.parts == (OWN, "photographs", generator)


def test_captions_of_a_picture_are_in_one_split(stored):
    for table in RELEASE_TABLES:
        rows = read_all(table, stored)
        names = [{row.base_image for row in split_rows} for split_rows in rows.values()]
        assert all(names)
        assert names[0].isdisjoint(names[1])


def test_rated_captions_are_all_there(stored):
    rows = flatten(read_all(RATED_TABLE, stored))
    assert len(rows) == NUMBER
    assert {row.proof for row in rows} == {"people"}
