"""Releases of a small benchmark, opened by `datasets`."""

from dataclasses import replace

import dagster as dg

from assets.release import ReleaseOptions, write_release
from assets.release.parquet import build_schema
from resources.settings.default_resources import build_default_resources
from tests.assets.release.small import SHADES, SHAPES, TABLE, picture, squares


def test_datasets_opens_it_with_images_decoded(datasets, sources, tmp_path):
    release = write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions())
    assert [(split.name, split.rows) for split in release.tables[0].splits] == [
        ("dev", 2),
        ("test", 4),
    ]
    files = {
        split.name: [str(tmp_path / "out" / file) for file in split.files]
        for split in release.tables[0].splits
    }
    opened = datasets.load_dataset("parquet", data_files=files, cache_dir=str(tmp_path / "cache"))
    assert opened["test"]["id"] == [
        f"{name}/{shade}" for name in SHADES for shade in SHADES[name][1:]
    ]
    assert opened["test"][0]["image"].getpixel((0, 0)) == (20, 20, 20)
    assert opened["test"][0]["accepted"] == ["20", "14"]
    raw = opened["dev"].cast_column("image", datasets.Image(decode=False))[0]["image"]
    assert raw["bytes"] == picture(10)


def test_a_table_that_nothing_is_made_of_is_left_out_and_named(sources, tmp_path):
    circles = replace(TABLE, config="circles", sources={"shade": dg.AssetKey("circles")})
    benchmark = replace(SHAPES, release_tables=[TABLE, circles])
    definitions = dg.Definitions(
        assets=[squares, dg.AssetSpec("circles")],
        resources=build_default_resources(str(tmp_path / "root")),
    )
    with_circles = replace(sources, graph=definitions.resolve_asset_graph())
    release = write_release(tmp_path / "out", benchmark, with_circles, ReleaseOptions())
    assert [table.declaration.config for table in release.tables] == ["squares"]
    assert release.missing_tables == ["circles"]
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "- The table `circles`: nothing of it was made." in card
    assert not (tmp_path / "out" / "data" / "circles").exists()


def test_the_schema_is_that_of_datasets(datasets):
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "image": datasets.Image(),
            "sha256": datasets.Value("string"),
            "prompt": datasets.Value("string"),
            "shade": datasets.Value("int64"),
            "share": datasets.Value("float64"),
            "is_dark": datasets.Value("bool"),
            "accepted": datasets.List(datasets.Value("string")),
        }
    )
    assert build_schema(TABLE).equals(features.arrow_schema, check_metadata=True)
