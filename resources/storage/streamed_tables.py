"""Tables on a disk, written and read some rows at a time, so that many take little memory."""

import io
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self
from weakref import finalize

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from generators.name_suggestions import find_similar
from resources.faults import CorruptItem, write_errors

ROWS_PER_BATCH = 1000
"""Rows decoded at a time."""
WRITE_OPTIONS = {"compression": "zstd", "write_page_checksum": True}
"""Options with which tables are written."""


class StoredTable:
    """A table that is read by some rows and columns at a time.

    It keeps its file open: a file that takes its name meanwhile is not seen.
    Reading raises `CorruptItem`, which names the table and the remedy.
    """

    def __init__(self, file: IO[bytes], name: str, remedy: str) -> None:
        self._file, self._name, self._remedy = file, name, remedy
        finalize(self, file.close)
        with self._translate_errors():
            self._parquet = pq.ParquetFile(file, page_checksum_verification=True)
        self.schema = _strip_metadata(self._parquet.schema_arrow)

    @classmethod
    def from_arrow(cls, table: pa.Table) -> "StoredTable":
        """Build a stored table in memory, as one that a plan foresees."""
        file = io.BytesIO()
        pq.write_table(table, file, **WRITE_OPTIONS)
        return cls(file, "in memory", "")

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self._parquet.metadata.num_rows)

    def portions(
        self, columns: Collection[str] | None = None, size: int = ROWS_PER_BATCH
    ) -> Iterator[pa.Table]:
        """Yield rows in their order, `size` at a time, with those of `columns` that exist."""
        chosen_schema = pa.schema(
            [field for field in self.schema if columns is None or field.name in columns]
        )
        with self._translate_errors():
            for batch in self._parquet.iter_batches(
                size, columns=chosen_schema.names, use_threads=False
            ):
                yield pa.Table.from_batches([batch]).cast(chosen_schema)

    def require(self, columns: Iterable[str]) -> None:
        """Raise `CorruptItem` where it lacks one of the columns."""
        require_columns(self._name, columns, self.schema.names, self._remedy)

    def rows(self, columns: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield rows in their order, None for an empty cell, with those of `columns` that exist."""
        for portion in self.portions(columns):
            yield from portion.to_pylist()

    def row(self, index: int) -> dict[str, Any]:
        """Read one row by its index."""
        for group in range(self._parquet.num_row_groups):
            group_rows = self._parquet.metadata.row_group(group).num_rows
            if index < group_rows:
                with self._translate_errors():
                    (row,) = self._parquet.read_row_group(group).slice(index, 1).to_pylist()
                return dict(row)
            index -= group_rows
        raise IndexError(index)

    def to_frame(self, columns: Sequence[str], coded: Collection[str] = ()) -> pd.DataFrame:
        """Load columns of all rows; `coded` ones as categories: few texts, many rows."""
        self.require(columns)
        portions = [_encode(portion, coded) for portion in self.portions(columns)]
        schema = pa.schema([self.schema.field(name) for name in columns])
        empty = _encode(schema.empty_table(), coded)
        table = pa.concat_tables([empty, *(chunk.select(columns) for chunk in portions)])
        frame: pd.DataFrame = table.unify_dictionaries().to_pandas()
        return frame

    def copy_to(self, file: IO[bytes]) -> None:
        """Copy the table's file to another one."""
        self._file.seek(0)
        shutil.copyfileobj(self._file, file)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowInvalid, OSError) as error:
            raise build_unreadable_error(self._name, error, self._remedy) from error


class TableWriter:
    """Writes a table of some columns, some rows at a time, to a file that has no name.

    Nothing is left of it when the process ends, however it ends. Raises `DiskFull` and
    `UnwritableStore`.

        with TableWriter(schema, folder) as table:
            table.write(rows)
            stored = table.finish()
    """

    def __init__(self, schema: pa.Schema, folder: Path) -> None:
        self._folder = folder
        with write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - the table that is read has it
        self._parquet = pq.ParquetWriter(self._file, schema, **WRITE_OPTIONS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._parquet.is_open:
            # An unfinished table is given up: closing it would write its end.
            self._parquet.is_open = False
            self._file.close()

    def write(self, rows: pa.Table) -> None:
        """Add rows."""
        with write_errors(self._folder):
            self._parquet.write_table(rows)

    def finish(self) -> StoredTable:
        """The table, once it has all of its rows."""
        with write_errors(self._folder):
            self._parquet.close()
            self._file.flush()
        return StoredTable(self._file, f"of this run in {self._folder}", "Materialize it again.")


def build_unreadable_error(name: object, error: Exception, remedy: str) -> CorruptItem:
    """Build the error for a table whose file is damaged."""
    return CorruptItem(f"The table {name} cannot be read ({error}). {remedy}")


def require_columns(
    name: object, required: Iterable[str], existing: Iterable[object], remedy: str
) -> None:
    """Raise `CorruptItem` where a table lacks one of the required columns."""
    names = [*map(str, existing)]
    missing = [
        f"`{column}`"
        + "".join(f" (the nearest is `{other}`)" for other in find_similar(column, names))
        for column in required
        if column not in names
    ]
    if missing:
        raise CorruptItem(
            f"The table {name} has no column {' and no '.join(missing)}: another version of this "
            f"project made it, or it was edited. {remedy}"
        )


def _strip_metadata(schema: pa.Schema) -> pa.Schema:
    """A schema without metadata, and without what Parquet calls the items of lists."""
    types = (
        pa.list_(item.type.value_type) if pa.types.is_list(item.type) else item.type
        for item in schema
    )
    return pa.schema([pa.field(*field) for field in zip(schema.names, types, strict=True)])


def _encode(portion: pa.Table, names: Collection[str]) -> pa.Table:
    for index, name in enumerate(portion.column_names):
        if name in names:
            coded = portion.column(name).dictionary_encode()
            portion = portion.set_column(index, name, coded)
    return portion
