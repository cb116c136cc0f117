"""Tables that are written and read some rows at a time."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dagster import AssetKey, PythonObjectDagsterType, build_input_context
from upath import UPath

from resources.faults import CorruptItem, DiskFull, UnwritableStore
from resources.storage.parquet_tables import ParquetTables, open_table
from resources.storage.streamed_tables import StoredTable, TableWriter

SCHEMA = pa.schema([("name", pa.string()), ("calls", pa.list_(pa.string())), ("n", pa.int64())])
ROWS = [{"name": f"a/{n % 3}", "calls": ["x"] * (n % 2), "n": n} for n in range(2_500)]
TABLE = pa.Table.from_pylist(ROWS, schema=SCHEMA)


@pytest.fixture
def path(tmp_path):
    """A table that was written in portions, as the IO manager keeps it."""
    path = UPath(tmp_path / "pictures" / "mine.parquet")
    with TableWriter(SCHEMA, tmp_path) as table:
        for start in range(0, len(ROWS), 1_100):
            table.write(TABLE[start : start + 1_100])
        manager(tmp_path).dump_to_path(None, table.finish(), path)
    return path


def manager(folder):
    return ParquetTables(root=str(folder)).create_io_manager(None)


def test_it_is_read_as_it_was_written(path):
    table = open_table(path, "frame/pictures")
    assert (table.num_rows, table.schema) == (len(ROWS), SCHEMA)
    assert [*table.rows()] == ROWS
    assert [*table.rows(["n", "no such column"])] == [{"n": row["n"]} for row in ROWS]
    assert table.row(1_100) == ROWS[1_100]
    assert max(portion.num_rows for portion in table.portions()) == 1_000
    assert pq.read_table(path.path).equals(TABLE)


def test_columns_of_few_texts_are_categories(path):
    frame = open_table(path, "frame/pictures").to_frame(["n", "name"], ["name"])
    assert frame["name"].dtype.categories.tolist() == ["a/0", "a/1", "a/2"]
    assert frame.astype({"name": "str"}).equals(TABLE.select(["n", "name"]).to_pandas())
    empty = StoredTable.from_arrow(TABLE[:0]).to_frame(["n", "name"], ["name"])
    assert (len(empty), list(empty)) == (0, ["n", "name"])


def test_nothing_but_the_table_is_left(path, tmp_path):
    with TableWriter(SCHEMA, tmp_path) as table:
        table.write(TABLE)
        assert [each.name for each in tmp_path.iterdir()] == ["pictures"]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_one_that_takes_its_place_is_not_mixed_with_it(path, tmp_path):
    table = open_table(path, "frame/pictures")
    manager(tmp_path).dump_to_path(None, TABLE[:1], path)
    assert [*table.rows()] == ROWS
    assert open_table(path, "frame/pictures").num_rows == 1


def test_what_is_damaged_is_named_with_its_remedy(path):
    whole = path.read_bytes()
    remedy = r"(?s)mine\.parquet.*Materialize frame/pictures \(mine\)"
    path.write_bytes(whole[:100])
    with pytest.raises(CorruptItem, match=remedy):
        open_table(path, "frame/pictures")
    path.write_bytes(whole[:60] + bytes(byte ^ 255 for byte in whole[60:90]) + whole[90:])
    table = open_table(path, "frame/pictures")
    with pytest.raises(CorruptItem, match=remedy):
        list(table.rows())


def test_an_input_of_that_type_is_opened_and_read_later(path, tmp_path):
    def read(name, **metadata):
        return manager(tmp_path).load_input(
            build_input_context(
                asset_key=AssetKey(["pictures", name]),
                dagster_type=PythonObjectDagsterType(StoredTable),
                definition_metadata=metadata,
            )
        )

    assert [*read("mine").rows()] == ROWS
    assert [*read("none", optional=True).rows()] == []
    with pytest.raises(FileNotFoundError, match=r"none\.parquet is not there"):
        read("none")


def test_a_full_disk_is_said_with_its_remedy(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with TableWriter(SCHEMA, tmp_path) as table:
        monkeypatch.setattr(table._parquet, "write_table", full)
        with pytest.raises(DiskFull, match="free some space"):
            table.write(TABLE)


def test_a_folder_that_is_none_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UnwritableStore, match="Choose a data root"):
        TableWriter(SCHEMA, tmp_path / "file")
