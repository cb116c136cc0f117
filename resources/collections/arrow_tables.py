"""Collections in Arrow's formats: Parquet, and what Hugging Face's `datasets` saves to disk.

That is a folder with Arrow streams, which `state.json` lists. `datasets` itself is not needed.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, ValidationError

from resources.collections.row import CollectionError, Row, Wanted, require_columns

_NO_STREAM = b"ARROW1"
"""What Arrow's other format, also called Feather, begins with."""
_AT_ONCE = 16
"""Rows, each of which may hold a picture."""


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
    with (
        _reading(path),
        pa.memory_map(str(path)) as file,
        pa.ipc.open_stream(file) as stream,
    ):
        require_columns(path, stream.schema.names, wanted)
        for batch in stream:
            for start in range(0, batch.num_rows, _AT_ONCE):
                yield batch.slice(start, _AT_ONCE)


def _of_parquet(path: Path, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    with _reading(path), pq.ParquetFile(path) as file:
        require_columns(path, file.schema_arrow.names, wanted)
        yield from file.iter_batches(batch_size=_AT_ONCE)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise CollectionError(
            f"{path} cannot be read ({error}). Save or download it again."
        ) from None


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    rows = (cells for batch in batches for cells in batch.to_pylist())
    for number, cells in enumerate(rows, 1):
        yield Row(number, f"row {number:,}", cells)
