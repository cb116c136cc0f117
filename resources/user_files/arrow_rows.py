"""Rows of tables in Arrow's formats: Parquet, and folders that Hugging Face's `datasets` saves.

Such a folder has Arrow streams, which `state.json` lists. `datasets` itself is not needed.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, ValidationError

from resources.storage.atomic_writes import FilePath, is_remote, to_local_path
from resources.storage.files import open_file
from resources.user_files.rows import Row, TableFormat, UserFileError, require_columns

_NO_STREAM = b"ARROW1"
"""Magic bytes of Arrow's other format, also called Feather."""
_LARGEST_CELL = 100_000_000
"""Bytes of a picture or a list."""
_LONGEST_TEXT = 1_000_000
"""Characters of a text."""
_VALUES_A_ROW = 10_000
_BYTES = (
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary),
    *(pa.types.is_binary_view, pa.types.is_union, pa.types.is_run_end_encoded),
)
"""Types whose cells are no text, nor numbers."""


class _SavedFile(BaseModel):
    filename: str


class _SavedFiles(BaseModel):
    """The names of a saved data set's files, as `state.json` has them."""

    files: list[_SavedFile] = Field(alias="_data_files")


def read_datasets(folder: Path, table_format: TableFormat) -> Iterator[Row]:
    """The rows of a folder that `Dataset.save_to_disk` wrote."""
    path = folder / "state.json"
    try:
        state = _SavedFiles.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise UserFileError(
            f"{path} is not as `datasets` writes it ({error}). Save the data set again."
        ) from None
    return read_streams([folder / Path(file.filename).name for file in state.files], table_format)


def read_streams(paths: Sequence[Path], table_format: TableFormat) -> Iterator[Row]:
    """The rows of Arrow streams, one after the other."""
    return _number_rows(batch for path in paths for batch in _read_stream(path, table_format))


def read_parquet(paths: Sequence[FilePath], table_format: TableFormat) -> Iterator[Row]:
    """The rows of Parquet files, one after the other."""
    return _number_rows(batch for path in paths for batch in _read_parquet_file(path, table_format))


def _read_stream(path: Path, table_format: TableFormat) -> Iterator[pa.RecordBatch]:
    with _convert_errors(path), path.open("rb") as file:
        magic = file.read(len(_NO_STREAM))
    if magic == _NO_STREAM:
        raise UserFileError(f"{path} is an Arrow file, not an Arrow stream. Save it as Parquet.")
    with _convert_errors(path), pa.memory_map(str(path)) as file:
        with pa.ipc.open_stream(file) as stream:
            names = _used_columns(path, stream.schema, table_format)
            numbers = [stream.schema.get_field_index(name) for name in names]
        file.seek(0)
        options = pa.ipc.IpcReadOptions(included_fields=numbers)
        with pa.ipc.open_stream(file, options=options) as stream:
            for batch in stream:
                for index in range(batch.num_rows):
                    yield batch.slice(index, 1)


def _read_parquet_file(path: FilePath, table_format: TableFormat) -> Iterator[pa.RecordBatch]:
    with _convert_errors(path), pq.ParquetFile(_open(path)) as file:
        names = _used_columns(path, file.schema_arrow, table_format)
        _require_bounded(path, file.metadata)
        # Several rows may share a value that is stored once: one row is decoded at a time.
        yield from file.iter_batches(batch_size=1, columns=names)


def _open(path: FilePath) -> Path | IO[bytes]:
    """A source that Arrow reads: the path of a local file, or what lies in an object store."""
    return open_file(path) if is_remote(path) else to_local_path(path)


def _used_columns(path: object, schema: pa.Schema, table_format: TableFormat) -> list[str]:
    """The required columns, and all others without bytes."""
    require_columns(path, schema.names, table_format)
    required = table_format.columns
    return [
        field.name for field in schema if field.name in required or not _may_hold_bytes(field.type)
    ]


def _may_hold_bytes(kind: pa.DataType) -> bool:
    inner = [kind.value_type] if pa.types.is_dictionary(kind) else []
    inner += [kind.field(index).type for index in range(kind.num_fields)]
    is_bytes = any(is_kind(kind) for is_kind in _BYTES)
    return is_bytes or any(map(_may_hold_bytes, inner))


def _require_bounded(path: object, metadata: pq.FileMetaData) -> None:
    """Raise `UserFileError` where a few bytes claim to be very many values."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            if column.num_values > _VALUES_A_ROW * max(1, group.num_rows):
                raise UserFileError(
                    f"{path}: column {column.path_in_schema!r} has more than {_VALUES_A_ROW:,} "
                    "values per row. Save the table with shorter lists."
                )


@contextmanager
def _convert_errors(path: object) -> Iterator[None]:
    try:
        yield
    except UserFileError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise UserFileError(
            f"{path} cannot be read ({error}). Save or download it again."
        ) from None


def _number_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for number, batch in enumerate(batches, 1):
        place = f"row {number:,}"
        try:
            yield Row(number, place, _read_cells(batch))
        except (pa.ArrowException, ValueError, OverflowError) as error:
            yield Row(number, place, problem=f"its cells cannot be read ({error})")


def _read_cells(row: pa.RecordBatch) -> dict[str, Any]:
    """The cells of a batch of one row, which is validated before any is read."""
    row.validate(full=True)
    for name, column in zip(row.schema.names, row.columns, strict=True):
        if column.nbytes > _LARGEST_CELL and not pa.types.is_dictionary(column.type):
            raise ValueError(f"`{name}` has more than {_LARGEST_CELL // 1_000_000} MB")
    [cells] = row.to_pylist()
    for name, cell in cells.items():
        if isinstance(cell, str) and len(cell) > _LONGEST_TEXT:
            raise ValueError(f"`{name}` has more than {_LONGEST_TEXT:,} characters")
    return dict(cells)
