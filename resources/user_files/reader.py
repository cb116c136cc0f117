"""Reader of users' tables, row by row; `rows` checks what a row holds.

It reads tables larger than memory, except for JSON that is not in lines, and for what lies in an
object store.
"""

from collections.abc import Callable, Collection, Iterator, Mapping

from resources.storage.atomic_writes import FilePath, is_remote
from resources.storage.files import fetch, is_stored
from resources.user_files.arrow_rows import read_parquet, read_streams
from resources.user_files.rows import Row, TableFormat, UserFileError
from resources.user_files.text_rows import (
    describe_absence,
    read_csv,
    read_json_lines,
    read_json_rows,
)

_READERS: Mapping[str, Callable[[FilePath, TableFormat], Iterator[Row]]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json_rows,
    ".parquet": lambda path, table_format: read_parquet([path], table_format),
    ".arrow": lambda path, table_format: read_streams([fetch(path)], table_format),
}
KINDS = tuple(_READERS)
"""Ends of the names of tables that can be read."""


def read_rows(
    path: FilePath, table_format: TableFormat, kinds: Collection[str] = KINDS
) -> Iterator[Row]:
    """The rows of a table, by the end of its name, which has to be one of `kinds`.

    A .txt is tab-separated if the format has `heads`. Raises `UserFileError` for a table that
    cannot be read as a whole.
    """
    kind = path.suffix.lower()
    if kind == ".txt" and table_format.heads:
        kind = ".tsv"
    if kind not in kinds:
        raise UserFileError(f"{path} is no table. Save it as one of {', '.join(kinds)}.")
    if not (is_stored(path) if is_remote(path) else path.exists()):
        raise UserFileError(describe_absence(path, table_format))
    yield from _READERS[kind](path, table_format)
