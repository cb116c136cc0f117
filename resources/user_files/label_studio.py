"""Label Studio's exports: a JSON list of tasks, which people have annotated."""

from collections.abc import Iterator
from pathlib import Path

from pydantic_core import from_json

from resources.user_files.rows import BadRow, Cells, Row, TableFormat, UserFileError, to_cells
from resources.user_files.text_rows import read_text

_REMEDY = "export the project again, as JSON (not JSON-MIN or another format)"


def read_tasks(path: Path) -> Iterator[Row]:
    """The tasks of an export. Raises `UserFileError`."""
    try:
        tasks = from_json(read_text(path, TableFormat()))
    except ValueError as error:
        raise UserFileError(f"{path} is no JSON ({error}): {_REMEDY}.") from None
    if not isinstance(tasks, list):
        raise UserFileError(f"{path} is no list of Label Studio's tasks: {_REMEDY}.")
    for number, task in enumerate(tasks, 1):
        is_task = isinstance(task, dict)
        problem = None if is_task else "it is no task of Label Studio"
        yield Row(number, f"task {number:,}", task if is_task else {}, problem)


def to_task(row: Row, model: type[Cells]) -> Cells:
    """A task of an export, checked. Raises `BadRow`."""
    try:
        return to_cells(row, model)
    except BadRow as problem:
        raise BadRow(f"{problem}: {_REMEDY}") from None
