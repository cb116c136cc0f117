"""Collections in text: CSV, tab-separated values, JSON lines, JSON.

What is not in the encoding that a table is said to have is told by row; the rest goes on.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from resources.collections.row import CollectionError, Row, Wanted, require_columns
from resources.untrusted_input import BadJson, infinity_as_written, parse_untrusted

_OTHER_BYTES = re.compile("[\udc80-\udcff]")
_LARGEST_JSON = 200_000_000
_NO_OBJECT = "it is no JSON object on one line"


def rows_of_csv(
    path: Path, encoding: str, wanted: Wanted, heads: Sequence[str] = ()
) -> Iterator[Row]:
    """The rows of a CSV, or by their name of tab-separated values (.tsv, .txt).

    The first line names the columns, unless `heads` do.
    """
    delimiter = "," if path.suffix.lower() == ".csv" else "\t"
    with _opened(path, encoding) as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        names = list(heads) or _heads(path, reader, encoding)
        require_columns(path, names, wanted)
        number = 0
        while True:
            first = reader.line_num + 1
            place = f"line {first:,}"
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                number += 1
                until = f", up to line {reader.line_num:,}" if reader.line_num > first else ""
                yield Row(number, place, problem=f"it is no CSV ({error}){until}")
                continue
            if values:
                number += 1
                yield _of_values(number, place, names, values, encoding)


def _heads(path: Path, reader: Any, encoding: str) -> list[str]:
    try:
        names: list[str] = [name.removeprefix("\ufeff") for name in next(reader, [])]
    except csv.Error as error:
        raise CollectionError(f"{path}, line 1: it is no CSV ({error}). Mend it there.") from None
    if any(map(_OTHER_BYTES.search, names)):
        raise CollectionError(f"{path}, line 1: {_foreign(encoding)}.")
    if not names:
        raise CollectionError(f"{path}: the first line names no columns. Add one that does.")
    return names


def _of_values(number: int, place: str, names: list[str], values: list[str], encoding: str) -> Row:
    if any(map(_OTHER_BYTES.search, values)):
        return Row(number, place, problem=_foreign(encoding))
    if len(values) != len(names):
        amount = f"{len(values)} cells where line 1 names {len(names)} columns"
        return Row(number, place, problem=f"it has {amount}")
    return Row(number, place, dict(zip(names, values, strict=True)))


def lines_of(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that hold anything, with their numbers. Raises `CollectionError`."""
    with _opened(path, encoding) as file:
        for number, line in enumerate(file, 1):
            if _OTHER_BYTES.search(line):
                raise CollectionError(f"{path}, line {number:,}: {_foreign(encoding)}.")
            if line.strip():
                yield number, line


def rows_of_json_lines(path: Path, encoding: str) -> Iterator[Row]:
    """The rows of a file with a JSON object a line; empty lines are none."""
    number = 0
    with _opened(path, encoding) as file:
        for line, text in enumerate(file, 1):
            if text.strip():
                number += 1
                yield _of_line(number, f"line {line:,}", text, encoding)


def _of_line(number: int, place: str, text: str, encoding: str) -> Row:
    if _OTHER_BYTES.search(text):
        return Row(number, place, problem=_foreign(encoding))
    try:
        cells = parse_untrusted(text, infinity_as_written)
    except BadJson:
        return Row(number, place, problem=_NO_OBJECT)
    if not isinstance(cells, Mapping):
        return Row(number, place, problem=_NO_OBJECT)
    return Row(number, place, cells)


def rows_of_json(path: Path, encoding: str) -> Iterator[Row]:
    """The rows of a file with a list of objects, with objects by name, or with one a line."""
    if _is_in_lines(path, encoding):
        yield from rows_of_json_lines(path, encoding)
        return
    value = _whole(path, encoding)
    if isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values()):
        for number, (name, cells) in enumerate(value.items(), 1):
            yield Row(number, f"item {name}", cells, name=name)
    elif isinstance(value, list):
        for number, cells in enumerate(value, 1):
            fits = isinstance(cells, Mapping)
            place, problem = f"item {number:,}", None if fits else "it is no JSON object"
            yield Row(number, place, cells if fits else {}, problem)
    else:
        raise CollectionError(
            f"{path} holds neither a list of objects nor objects by name. Save it as one of these, "
            "or as JSON lines (.jsonl)."
        )


def _is_in_lines(path: Path, encoding: str) -> bool:
    """Whether the first line is an object that holds no other, whatever the file is called."""
    with _opened(path, encoding) as file:
        first = next(filter(str.strip, file), "")
    try:
        found = parse_untrusted(first)
    except BadJson:
        return False
    return isinstance(found, Mapping) and not all(isinstance(v, Mapping) for v in found.values())


def _whole(path: Path, encoding: str) -> Any:
    if path.stat().st_size > _LARGEST_JSON:
        raise CollectionError(
            f"{path} has more than {_LARGEST_JSON // 1_000_000} MB, and JSON is read whole. Save "
            "it as JSON lines (.jsonl) or Parquet."
        )
    with _opened(path, encoding) as file:
        text = file.read()
    if found := _OTHER_BYTES.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise CollectionError(f"{path}, line {line}: {_foreign(encoding)}.")
    try:
        return parse_untrusted(text, infinity_as_written)
    except BadJson as error:
        raise CollectionError(
            f"{path}: {error}. Save it as JSON, or as JSON lines (.jsonl)."
        ) from None


def _foreign(encoding: str) -> str:
    return f"it is not text in {encoding.upper()}: save the table as UTF-8, or name its encoding"


@contextmanager
def _opened(path: Path, encoding: str) -> Iterator[TextIO]:
    """The text of a file; bytes that its encoding has no character for are halves of a pair."""
    read_as = "utf-8-sig" if encoding == "utf-8" else encoding
    try:
        with path.open(encoding=read_as, errors="surrogateescape", newline="") as file:
            yield file
    except UnicodeError as error:
        raise CollectionError(f"{path}: {_foreign(encoding)} ({error}).") from None
    except OSError as error:
        raise CollectionError(
            f"{path} cannot be read ({error.strerror}). Make it a file that you may read."
        ) from None
