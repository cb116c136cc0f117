"""Rows of logs in text, of which a copy may have been cut short."""

from collections.abc import Iterator

from upath import UPath

from resources.user_files.reader import read_rows
from resources.user_files.rows import Row, TableFormat


def read_log_rows(path: UPath, table_format: TableFormat) -> Iterator[Row]:
    """Rows as `read_rows` yields them; a problem of the last one has a remedy for a cut file."""
    previous: Row | None = None
    for row in read_rows(path, table_format):
        if previous is not None:
            yield previous
        previous = row
    if previous is None:
        return
    if previous.problem is not None:
        problem = f"{previous.problem}. The file may be cut short: copy it again"
        previous = previous._replace(problem=problem)
    yield previous
