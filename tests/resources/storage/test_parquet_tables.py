"""Tables are read as they were written, or not at all."""

import random

import pandas as pd
import pyarrow as pa
import pytest
from dagster import (
    AssetKey,
    PartitionKeyRange,
    PythonObjectDagsterType,
    StaticPartitionsDefinition,
    build_input_context,
)
from upath import UPath

from resources.faults import CorruptItem
from resources.storage.parquet_tables import (
    MultiplePartitions,
    ParquetTables,
    open_table,
    read_table,
)

ROWS = pa.table(
    {
        "image_id": [f"flags/scene-{number}/384" for number in range(300)],
        "truths": [[number / 7, number % 5] for number in range(300)],
        "measured": [number * 1.5 if number % 3 else None for number in range(300)],
    }
)


@pytest.fixture
def path(tmp_path):
    """A table as the IO manager stores it."""
    path = UPath(tmp_path / "drawn_images" / "flags.parquet")
    ParquetTables(root=str(tmp_path)).create_io_manager(None).dump_to_path(None, ROWS, path)
    return path


def read(path, *columns):
    return read_table(path, "vlmbias/drawn_images", list(columns) or None)


def test_a_table_is_read_as_it_was_written(path):
    assert read(path).equals(ROWS.to_pandas())
    assert list(read(path, "measured").columns) == ["measured"]
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_a_run_of_several_partitions_is_refused_with_its_remedy(path):
    tables = ParquetTables(root=str(path.parent.parent)).create_io_manager(None)

    def needing(last, kind):
        return build_input_context(
            asset_key=AssetKey("drawn_images"),
            asset_partition_key_range=PartitionKeyRange("flags", last),
            asset_partitions_def=StaticPartitionsDefinition(["flags", "grids"]),
            dagster_type=kind,
        )

    one, several = (PythonObjectDagsterType(kind) for kind in (pd.DataFrame, dict))
    assert tables.load_input(needing("flags", one)).equals(ROWS.to_pandas())
    with pytest.raises(FileNotFoundError, match=r"grids\.parquet"):
        tables.load_input(needing("grids", several))
    with pytest.raises(MultiplePartitions, match=r"2 partitions of drawn_images.*multiple runs"):
        tables.load_input(needing("grids", one))


def test_a_missing_table_is_named_with_its_remedy(path):
    path.unlink()
    with pytest.raises(
        FileNotFoundError, match=r"flags\.parquet.*Materialize vlmbias/drawn_images \(flags\)"
    ):
        read(path)


@pytest.mark.parametrize("kept", [0, 4, 100, -1])
def test_a_torn_table_is_named_with_its_remedy(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(
        CorruptItem, match=r"flags\.parquet.*Materialize vlmbias/drawn_images \(flags\)"
    ):
        read(path)


def test_a_column_that_is_not_there_is_named_with_the_nearest_and_the_remedy(path):
    message = (
        f"The table {path} has no column `truth` (the nearest is `truths`) and no `sha256`: "
        "another version of this project made it, or it was edited. Materialize "
        "vlmbias/drawn_images (flags) again."
    )
    with pytest.raises(CorruptItem) as raised:
        read(path, "image_id", "truth", "sha256")
    assert str(raised.value) == message
    opened = open_table(path, "vlmbias/drawn_images")
    with pytest.raises(CorruptItem) as raised:
        opened.to_frame(["image_id", "truth", "sha256"])
    assert str(raised.value) == message


def with_a_bit_turned(data, place):
    return data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :]


def with_a_hole(data, place):
    return data[:place] + bytes(64) + data[place + 64 :]


@pytest.mark.parametrize("damaged", [with_a_bit_turned, with_a_hole])
def test_damaged_values_never_pass_for_others(path, damaged):
    """Damage anywhere before the footer is named, or has changed nothing that is read."""
    whole, rows, chance, named = path.read_bytes(), ROWS.to_pandas(), random.Random(0), 0
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for _ in range(150):
        path.write_bytes(damaged(whole, chance.randrange(footer - 64)))
        try:
            assert read(path).equals(rows)
        except CorruptItem:
            named += 1
    assert named > 100
