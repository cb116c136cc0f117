"""Tables in a data root that no run has made: what a release's rows are read from."""

import pyarrow.parquet as pq

from assets.kit.release_tables import ReleaseInputs
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot

MODELS = Catalog(
    tuple(
        Model(name=name, backend=backend, model=name, family=name, roles=roles)
        for name, backend, roles in (
            ("artist", "openai", ("painter", "captioner", "judge", "writer")),
            ("critic", "openai", ("captioner", "judge")),
            ("sketch", "stand_in", ("painter",)),
            ("vain", "stand_in", ("captioner", "judge")),
        )
    )
)


def store(root, key, partition, columns, rows):
    """Store rows as a table; columns that they lack are empty."""
    path = root.joinpath(*key.path, *partition.split("|")).with_suffix(".parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(columns.build_table(rows), path)


def inputs(root, *partitions):
    """The tables of a data root, of some partitions; no picture is asked for."""
    return ReleaseInputs(DataRoot(root=str(root)), None, None, MODELS, partitions)


def read_all(table, stored):
    """The rows of all splits of a table by split; each has a value for every column."""
    rows = {split: list(table.read_rows(stored, split)) for split in table.splits}
    for row in (row for split_rows in rows.values() for row in split_rows):
        assert row.cells.keys() == table.columns.columns.keys()
        assert row.cells[table.id_column] == row.row_id
    return rows


def flatten(rows):
    """The rows of all splits."""
    return [row for split_rows in rows.values() for row in split_rows]
