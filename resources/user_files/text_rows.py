"""Rows of tables in text: CSV, tab-separated values, JSON lines, JSON.

A row that is not in the table's encoding, or malformed, has a problem; the others are read.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from pydantic_core import from_json

from resources.storage.atomic_writes import FilePath, is_remote
from resources.storage.files import find_size, open_file
from resources.untrusted_input.json_text import BadJson, keep_written_infinity, parse_untrusted
from resources.user_files.rows import Row, TableFormat, UserFileError, number_rows, require_columns
from resources.user_files.spreadsheets import unguard_cell

_UNDECODED = re.compile("[\udc80-\udcff]")
_LARGEST_JSON = 200_000_000
_QUOTES = 'put cells that hold commas or quotes in "quotes"'
_NO_OBJECT = "it is no JSON object on one line"


def read_csv(path: FilePath, table_format: TableFormat) -> Iterator[Row]:
    """The rows of a CSV, or of tab-separated values unless the file's name ends in .csv.

    The first line names the columns, unless the format's `heads` do.
    """
    delimiter = "," if path.suffix.lower() == ".csv" else "\t"
    with open_text(path, table_format) as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        names = list(table_format.heads) or _read_heads(path, reader, table_format)
        require_columns(path, names, table_format)
        number = 0
        while True:
            first_line = reader.line_num + 1
            place = f"line {first_line:,}"
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                number += 1
                line = reader.line_num
                until = f", up to line {line:,}" if line > first_line else ""
                yield Row(number, place, problem=f"it is no CSV ({error}){until}: {_QUOTES}")
                continue
            if values:
                number += 1
                yield _build_row(number, place, names, values, table_format)


def _read_heads(path: FilePath, reader: Any, table_format: TableFormat) -> list[str]:
    try:
        names: list[str] = [name.removeprefix("\ufeff") for name in next(reader, [])]
    except csv.Error as error:
        raise UserFileError(f"{path}, line 1: it is no CSV ({error}). Mend it there.") from None
    if any(map(_UNDECODED.search, names)):
        raise UserFileError(f"{path}, line 1: {_describe_undecoded(table_format)}.")
    if not names:
        raise UserFileError(f"{path}: the first line names no columns. Add one that does.")
    if len(names) == 1 and re.search("[;\t]", names[0]):
        raise UserFileError(f"{path}, line 1: no commas. Save it with cells separated by commas.")
    return names


def _build_row(
    number: int, place: str, names: list[str], values: list[str], table_format: TableFormat
) -> Row:
    if any(map(_UNDECODED.search, values)):
        return Row(number, place, problem=_describe_undecoded(table_format))
    if len(values) != len(names):
        problem = f"it has {len(values)} cells where line 1 names {len(names)} columns"
        return Row(number, place, problem=f"{problem}: {_QUOTES}")
    if table_format.is_sheet:
        values = [unguard_cell(value.strip()) for value in values]
    return Row(number, place, dict(zip(names, values, strict=True)))


def read_lines(path: FilePath, table_format: TableFormat) -> Iterator[tuple[int, str]]:
    """The non-empty lines of a text with their numbers. Raises `UserFileError`."""
    with open_text(path, table_format) as file:
        for number, line in enumerate(file, 1):
            if _UNDECODED.search(line):
                problem = _describe_undecoded(table_format)
                raise UserFileError(f"{path}, line {number:,}: {problem}.")
            if line.strip():
                yield number, line


def read_json_lines(path: FilePath, table_format: TableFormat) -> Iterator[Row]:
    """The rows of a file with a JSON object on each line; empty lines are skipped."""
    number = 0
    with open_text(path, table_format) as file:
        for line_number, line in enumerate(file, 1):
            if line.strip():
                number += 1
                yield _parse_line(number, f"line {line_number:,}", line, table_format)


def _parse_line(number: int, place: str, line: str, table_format: TableFormat) -> Row:
    if _UNDECODED.search(line):
        return Row(number, place, problem=_describe_undecoded(table_format))
    try:
        cells = parse_untrusted(line, keep_written_infinity)
    except BadJson:
        return Row(number, place, problem=_NO_OBJECT)
    if not isinstance(cells, Mapping):
        return Row(number, place, problem=_NO_OBJECT)
    return Row(number, place, cells)


def read_json_rows(path: FilePath, table_format: TableFormat) -> Iterator[Row]:
    """The rows of a file with a list of objects, with objects by name, or with one on each line."""
    if _has_object_lines(path, table_format):
        yield from read_json_lines(path, table_format)
        return
    value = read_json(path, table_format)
    if isinstance(value, Mapping) and all(isinstance(item, Mapping) for item in value.values()):
        for number, (name, cells) in enumerate(value.items(), 1):
            yield Row(number, f"item {name}", cells, name=name)
    elif isinstance(value, list):
        yield from number_rows(value, "item")
    else:
        raise UserFileError(
            f"{path} holds neither a list of objects nor objects by name. Save it as one of these, "
            "or as JSON lines (.jsonl)."
        )


def _has_object_lines(path: FilePath, table_format: TableFormat) -> bool:
    """Return whether the first line is an object without nested ones, whatever the file's name.

    A single one that has a list of objects, and no column of the table, is no row.
    """
    with open_text(path, table_format) as file:
        lines = filter(str.strip, file)
        first_line, second_line = next(lines, ""), next(lines, "")
    try:
        value = parse_untrusted(first_line)
    except BadJson:
        return False
    if not isinstance(value, Mapping):
        return False
    columns = table_format.columns
    if columns and not second_line and not any(column in value for column in columns):
        lists = (item for item in value.values() if isinstance(item, list))
        if any(isinstance(item, Mapping) for items in lists for item in items):
            return False
    return not all(isinstance(item, Mapping) for item in value.values())


def read_json(path: FilePath, table_format: TableFormat) -> Any:
    """The value of a JSON file of bounded size. Raises `UserFileError`."""
    if find_size(path) > _LARGEST_JSON:
        raise UserFileError(
            f"{path} has more than {_LARGEST_JSON // 1_000_000} MB, and JSON is read whole. "
            "Save it as JSON lines (.jsonl) or Parquet."
        )
    try:
        return parse_untrusted(read_text(path, table_format), keep_written_infinity)
    except BadJson as error:
        raise UserFileError(f"{path}: {error}. Save or export it again, as JSON.") from None


def read_export(path: FilePath, table_format: TableFormat) -> Any:
    """The value of a JSON file that another program exported. Raises `UserFileError`."""
    text = read_text(path, table_format)
    try:
        return from_json(text)
    except ValueError as error:
        raise UserFileError(f"{path} is no JSON ({error}). Export it again.") from None


def read_text(path: FilePath, table_format: TableFormat) -> str:
    """The text of a file. Raises `UserFileError`."""
    with open_text(path, table_format) as file:
        text = file.read()
    if undecoded := _UNDECODED.search(text):
        line = text.count("\n", 0, undecoded.start()) + 1
        raise UserFileError(f"{path}, line {line}: {_describe_undecoded(table_format)}.")
    return text


def _describe_undecoded(table_format: TableFormat) -> str:
    if table_format.encoding is None:
        return "it is not text in UTF-8: save the file as UTF-8 text, not as a spreadsheet"
    encoding = table_format.encoding.upper()
    return f"it is not text in {encoding}: save the table as UTF-8, or name its encoding"


@contextmanager
def open_text(path: FilePath, table_format: TableFormat) -> Iterator[TextIO]:
    """Open the text of a file; undecodable bytes become halves of surrogate pairs."""
    encoding = table_format.encoding or "utf-8"
    read_as = "utf-8-sig" if encoding == "utf-8" else encoding
    try:
        with io.TextIOWrapper(
            open_file(path), encoding=read_as, errors="surrogateescape", newline=""
        ) as file:
            yield file
    except UnicodeError as error:
        raise UserFileError(f"{path}: {_describe_undecoded(table_format)} ({error}).") from None
    except FileNotFoundError:
        raise UserFileError(describe_absence(path, table_format)) from None
    except OSError as error:
        raise UserFileError(
            f"{path} cannot be read ({error.strerror or error}). Make it a file that you may read."
        ) from None


def describe_absence(path: FilePath, table_format: TableFormat) -> str:
    """Error message for a file that does not exist, or a link to one."""
    if not is_remote(path) and path.is_symlink():
        target = path.readlink()
        return f"{path} is a link to {target}, which is not there. Restore it, or remove the link."
    return f"{path} is not there. {table_format.remedy}"
