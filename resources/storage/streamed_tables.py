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
"""How many rows are decoded at once."""
WRITE_OPTIONS = {"compression": "zstd", "write_page_checksum": True}
"""How every table is written."""


class StoredTable:
    """A table of which some rows and columns are read at a time.

    It keeps its file open as long as it is there: what takes the file's name meanwhile is not seen.
    Reading raises `Corrupt`, which names the table and the remedy.
    """

    def __init__(self, file: IO[bytes], name: str, remedy: str) -> None:
        self._file, self._name, self._remedy = file, name, remedy
        finalize(self, file.close)
        with self._readable():
            self._parquet = pq.ParquetFile(file, page_checksum_verification=True)
        self.schema = _plain(self._parquet.schema_arrow)

    @classmethod
    def of(cls, table: pa.Table) -> "StoredTable":
        """A table that is stored nowhere else, as one that a plan foresees."""
        file = io.BytesIO()
        pq.write_table(table, file, **WRITE_OPTIONS)
        return cls(file, "in memory", "")

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        return int(self._parquet.metadata.num_rows)

    def portions(
        self, columns: Collection[str] | None = None, size: int = ROWS_PER_BATCH
    ) -> Iterator[pa.Table]:
        """Its rows in their order, at most so many at a time; of the `columns` those it has."""
        chosen = pa.schema(
            [each for each in self.schema if columns is None or each.name in columns]
        )
        with self._readable():
            for batch in self._parquet.iter_batches(size, columns=chosen.names, use_threads=False):
                yield pa.Table.from_batches([batch]).cast(chosen)

    def require(self, columns: Iterable[str]) -> None:
        """Raise `Corrupt` where it lacks one of the columns."""
        require_columns(self._name, columns, self.schema.names, self._remedy)

    def rows(self, columns: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
        """Its rows in their order, None where a cell is empty; of the `columns` those it has."""
        for portion in self.portions(columns):
            yield from portion.to_pylist()

    def row(self, at: int) -> dict[str, Any]:
        """One row, by its place."""
        for group in range(self._parquet.num_row_groups):
            held = self._parquet.metadata.row_group(group).num_rows
            if at < held:
                with self._readable():
                    (found,) = self._parquet.read_row_group(group).slice(at, 1).to_pylist()
                return dict(found)
            at -= held
        raise IndexError(at)

    def to_frame(self, columns: Sequence[str], coded: Collection[str] = ()) -> pd.DataFrame:
        """Some columns of all rows; those that are `coded` are categories: few texts, many rows."""
        self.require(columns)
        portions = [_coded(portion, coded) for portion in self.portions(columns)]
        schema = pa.schema([self.schema.field(name) for name in columns])
        empty = _coded(schema.empty_table(), coded)
        whole = pa.concat_tables([empty, *(each.select(columns) for each in portions)])
        frame: pd.DataFrame = whole.unify_dictionaries().to_pandas()
        return frame

    def copy_to(self, file: IO[bytes]) -> None:
        """Write its file to another one."""
        self._file.seek(0)
        shutil.copyfileobj(self._file, file)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowInvalid, OSError) as error:
            raise build_unreadable_error(self._name, error, self._remedy) from error


class TableWriter:
    """Writes a table of some columns, some rows at a time, to a file that has no name.

    Nothing is left of it when the process ends, however it ends. Raises `Full` and `Unwritable`.

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
            # What is not finished is given up: closing it would write its end.
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
    """The error of a table whose file is not what was written."""
    return CorruptItem(f"The table {name} cannot be read ({error}). {remedy}")


def require_columns(
    name: object, wanted: Iterable[str], there: Iterable[object], remedy: str
) -> None:
    """Raise `Corrupt` where the table of that name has not all columns that are wanted."""
    names = [*map(str, there)]
    lacking = [
        f"`{each}`" + "".join(f" (the nearest is `{other}`)" for other in find_similar(each, names))
        for each in wanted
        if each not in names
    ]
    if lacking:
        raise CorruptItem(
            f"The table {name} has no column {' and no '.join(lacking)}: another version of this "
            f"project made it, or it was edited. {remedy}"
        )


def _plain(schema: pa.Schema) -> pa.Schema:
    """A schema without metadata, and without what Parquet calls the items of lists."""
    kinds = (
        pa.list_(each.type.value_type) if pa.types.is_list(each.type) else each.type
        for each in schema
    )
    return pa.schema([pa.field(*field) for field in zip(schema.names, kinds, strict=True)])


def _coded(portion: pa.Table, names: Collection[str]) -> pa.Table:
    for place, name in enumerate(portion.column_names):
        if name in names:
            coded = portion.column(name).dictionary_encode()
            portion = portion.set_column(place, name, coded)
    return portion
