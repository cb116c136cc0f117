"""Collections as assets: a table with its rejected rows, a check, and a data version."""

import json

import dagster as dg
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assets.kit.collections import (
    COLLECTION_COLUMNS,
    collection_asset,
    collection_key,
    select_stored_rows,
)
from resources.collections import load
from resources.settings.default_resources import build_default_resources


@pytest.fixture
def materialized(tmp_path):
    """Materializes the collection `mine`; gives the result and the materialization."""

    def run(folder="mine"):
        entry = f"- {{name: mine, path: {folder}/metadata.csv, columns: {{text: text}}}}"
        (tmp_path / "collections.yaml").write_text(entry)
        collection = load(tmp_path / "collections.yaml")["mine"]
        result = dg.materialize(
            [collection_asset(collection)],
            resources=build_default_resources(str(tmp_path / "data")),
            instance=dg.DagsterInstance.ephemeral(),
        )
        (event,) = result.get_asset_materialization_events()
        (check,) = result.get_asset_check_evaluations()
        return event.materialization, check

    return run


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for colour in ("red", "blue"):
        Image.new("RGB", (9, 7), colour).save(folder / f"{colour}.jpg")
    (folder / "metadata.csv").write_text(
        "image,text\nred.jpg,red <b>\nblue.jpg,blue\ngone.jpg,gone\n"
    )
    return folder


def test_rows_are_taken_or_rejected_and_an_unchanged_run_gives_the_same_version(
    tmp_path, mine, materialized
):
    first, check = materialized()
    table = pq.read_table(tmp_path / "data/collections/mine.parquet")
    assert table.schema.equals(COLLECTION_COLUMNS.schema)
    rows = table.to_pylist()
    assert [row["image_id"] for row in select_stored_rows(rows)] == ["mine/1", "mine/2"]
    said = {name: value.value for name, value in first.metadata.items()}
    assert (said["taken"], said["rejected"], said["pictures"]) == (2, 1, 2)
    assert "gone.jpg is not there" in said["rejected_rows"]
    assert said["contact_sheet"].count("data:image/jpeg") == 2
    assert "red \\<b>" in said["contact_sheet"]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert check.description.startswith("2 of 3 rows were taken. Rejected: /")
    again, _ = materialized()
    version = "dagster/data_version"
    assert again.tags[version] == first.tags[version]
    Image.new("RGB", (9, 7), "green").save(mine / "red.jpg")
    changed, _ = materialized()
    assert changed.tags[version] != first.tags[version]


def test_a_collection_of_which_nothing_can_be_taken_is_an_error(mine, materialized):
    for picture in mine.glob("*.jpg"):
        picture.unlink()
    _, check = materialized()
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert check.description.startswith("0 of 3 rows were taken.")


def test_it_is_shown_as_other_assets_are(mine, tmp_path):
    (tmp_path / "collections.yaml").write_text("- {name: mine, path: mine}")
    collection = load(tmp_path / "collections.yaml")["mine"]
    asset = collection_asset(collection)
    key = collection_key("mine")
    assert asset.keys == {key}
    spec = asset.specs_by_key[key]
    assert (spec.group_name, spec.owners, spec.kinds) == (
        "collections",
        ["team:counterfactory"],
        {"python", "parquet", "image"},
    )
    assert json.loads(json.dumps(spec.description)).endswith(f"from {mine}.")
    other = collection_asset(collection.model_copy(update={"encoding": "latin-1"}))
    assert other.specs_by_key[key].code_version != spec.code_version
