"""Collections in Arrow's formats: Parquet, and what Hugging Face's `datasets` saves to disk.

That is a folder with Arrow streams, which `state.json` lists. `datasets` itself is not needed.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, ValidationError

from resources.collections.row import CollectionError, Row, Wanted, require_columns

_NO_STREAM = b"ARROW1"
"""What Arrow's other format, also called Feather, begins with."""
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


class _File(BaseModel):
    filename: str


class _State(BaseModel):
    """What is needed of `state.json`."""

    files: list[_File] = Field(alias="_data_files")


def rows_of_datasets(folder: Path, wanted: Wanted) -> Iterator[Row]:
    """The rows of a folder that `Dataset.save_to_disk` wrote."""
    state = folder / "state.json"
    try:
        said = _State.model_validate_json(state.read_bytes())
    except (OSError, ValidationError) as error:
        raise CollectionError(
            f"{state} is not as `datasets` writes it ({error}). Save the data set again."
        ) from None
    return rows_of_stream([folder / Path(each.filename).name for each in said.files], wanted)


def rows_of_stream(paths: Sequence[Path], wanted: Wanted) -> Iterator[Row]:
    """The rows of Arrow streams, one after the other."""
    return _numbered(batch for path in paths for batch in _of_stream(path, wanted))


def rows_of_parquet(paths: Sequence[Path], wanted: Wanted) -> Iterator[Row]:
    """The rows of Parquet files, one after the other."""
    return _numbered(batch for path in paths for batch in _of_parquet(path, wanted))


def _of_stream(path: Path, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    with _reading(path), path.open("rb") as file:
        magic = file.read(len(_NO_STREAM))
    if magic == _NO_STREAM:
        raise CollectionError(f"{path} is an Arrow file, not an Arrow stream. Save it as Parquet.")
    with _reading(path), pa.memory_map(str(path)) as file:
        with pa.ipc.open_stream(file) as stream:
            names = _used_columns(path, stream.schema, wanted)
            numbers = [stream.schema.get_field_index(name) for name in names]
        file.seek(0)
        options = pa.ipc.IpcReadOptions(included_fields=numbers)
        with pa.ipc.open_stream(file, options=options) as stream:
            for batch in stream:
                for index in range(batch.num_rows):
                    yield batch.slice(index, 1)


def _of_parquet(path: Path, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    with _reading(path), pq.ParquetFile(path) as file:
        names = _used_columns(path, file.schema_arrow, wanted)
        _require_bounded(path, file.metadata)
        # Several rows may share a value that is stored once: one row is decoded at a time.
        yield from file.iter_batches(batch_size=1, columns=names)


def _used_columns(path: Path, schema: pa.Schema, wanted: Wanted) -> list[str]:
    """The columns that are wanted, and others without bytes, which are kept beside them."""
    require_columns(path, schema.names, wanted)
    return [
        field.name for field in schema if field.name in wanted or not _may_hold_bytes(field.type)
    ]


def _may_hold_bytes(kind: pa.DataType) -> bool:
    inner = [kind.value_type] if pa.types.is_dictionary(kind) else []
    inner += [kind.field(index).type for index in range(kind.num_fields)]
    is_bytes = any(test(kind) for test in _BYTES)
    return is_bytes or any(map(_may_hold_bytes, inner))


def _require_bounded(path: Path, metadata: pq.FileMetaData) -> None:
    """Raise `CollectionError` where a few bytes claim to be very many values."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            if column.num_values > _VALUES_A_ROW * max(1, group.num_rows):
                raise CollectionError(
                    f"{path}: column {column.path_in_schema!r} has more than {_VALUES_A_ROW:,} "
                    "values a row. Save the table with shorter lists."
                )


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise CollectionError(
            f"{path} cannot be read ({error}). Save or download it again."
        ) from None


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for number, batch in enumerate(batches, 1):
        place = f"row {number:,}"
        try:
            yield Row(number, place, _cells(batch))
        except (pa.ArrowException, ValueError, OverflowError) as error:
            yield Row(number, place, problem=f"its cells cannot be read ({error})")


def _cells(row: pa.RecordBatch) -> dict[str, Any]:
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
