"""The released table of FRAME: a picture beside itself with a bias."""

from assets.frame.biased_images import BIASED_IMAGE_COLUMNS
from assets.frame.common import asset_key
from assets.frame.release import RELEASE_TABLES
from assets.kit.licences import GLYPHS, OWN
from tests.assets.forged_tables import flatten, inputs, read_all, store

(BIASED,) = RELEASE_TABLES


def _row(item, source, bias, outcome="biased"):
    return {
        "item_id": item,
        "domain": "people",
        "source": source,
        "image_id": f"{source}/{item}/0",
        "bias": bias,
        "parameters": f"[{bias}]",
        "original": f"{source} {item}",
        "sha256": f"{source} {item} {bias}",
        "outcome": outcome,
        "is_stand_in": source == "sketch",
    }


def test_rows_are_the_biased_pictures(tmp_path):
    sources = ("artist", "sketch", "photographs")
    for source in sources:
        rows = [
            _row(f"item-{number}", source, bias, outcome)
            for number in range(30)
            for bias, outcome in (
                ("none", "original"),
                ("gamma", "biased"),
                ("padding", "biased"),
                ("boxes", "inapplicable"),
            )
        ]
        store(tmp_path, asset_key("biased_images"), f"people|{source}", BIASED_IMAGE_COLUMNS, rows)
    splits = read_all(BIASED, inputs(tmp_path, "people", *(f"people|{name}" for name in sources)))
    rows = flatten(splits)
    assert len({row.row_id for row in rows}) == len(rows) == 30 * 2 * len(sources)
    assert {row.cells["bias"] for row in rows} == {"gamma", "padding"}
    for row in rows:
        assert row.cells["biased_image"] == f"{row.cells['image']} {row.cells['bias']}"
        assert row.cells["biased_sha256"] == row.cells["biased_image"]
        assert row.is_stand_in == (row.cells["source"] == "sketch")
        owner = [] if row.is_stand_in else [row.cells["source"]]
        assert row.parts == (OWN, GLYPHS, *owner)
    items = [{row.base_image for row in split_rows} for split_rows in splits.values()]
    assert all(items)
    assert items[0].isdisjoint(items[1]), "one instruction in two splits, by two painters"
