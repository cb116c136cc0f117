"""Items of a collection's rows: checked, in one form for all tables."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from resources.collections.captions import Captions
from resources.collections.entry import Collection
from resources.untrusted_input.json_text import (
    BadJson,
    clean_json,
    keep_written_infinity,
    parse_untrusted,
    replace_surrogates,
)
from resources.user_files.contained_paths import OutsideFolder, resolve_contained_file
from resources.user_files.rows import BadRow, Row

TEXTS = ("domain", "text", "question", "answer", "options")
"""Text columns that a table may have."""


class Item(NamedTuple):
    """A picture, what its row is called, and what that says of it.

    These are the `TEXTS`, `references` and `human_scores`, None or an empty list where the table
    lacks them; `file` as the table names it, None for a picture that lies in the table without a
    name; and `other_columns`, all other columns as a JSON object.
    """

    name: str
    image: Path | bytes
    cells: Mapping[str, Any]


def build_item(row: Row, collection: Collection) -> Item:
    """Build the item of a row; raises `BadRow`."""
    if row.problem is not None:
        raise BadRow(row.problem)
    columns, cells = collection.columns, row.cells
    for name in columns.used:
        if name not in cells:
            raise BadRow(f"it has no `{name}`")
    image, file = _image(columns.build_image(cells, partial(_text, cells)), collection)
    texts = {name: _find_text(cells, getattr(columns, name)) for name in ("name", *TEXTS)}
    name = texts.pop("name") or row.name or str(row.number)
    values = texts | {
        "file": file,
        "references": [
            text.strip()
            for name in columns.references
            for value in _iterate_values(_refuse_bytes(cells, name))
            if (text := _to_plain(value)).strip()
        ],
        "human_scores": [
            _score(value, collection.scale)
            for name in columns.human_score
            for value in _iterate_values(cells[name])
        ],
        "other_columns": _format_others(cells, columns.used),
    }
    return Item(name, image, values)


def add_captions(item: Item, captions: Captions) -> Item:
    """The item with the caption that its text names, and its picture's. Raises `BadRow`."""
    text = captions.find(item.cells["text"] or "")
    references = [*captions.find_captions(item.cells["file"])]
    return item._replace(cells={**item.cells, "text": text, "references": references})


def _image(value: Any, collection: Collection) -> tuple[Path | bytes, str | None]:
    """A picture's bytes, or its file. `datasets` writes `{bytes: …, path: …}`."""
    if isinstance(value, Mapping):
        data, path = value.get("bytes"), value.get("path")
        if isinstance(data, bytes):
            return data, path if isinstance(path, str) else None
        value = path
    if isinstance(value, bytes):
        return value, None
    if not isinstance(value, str) or not value.strip():
        raise BadRow("it names no picture")
    if "://" in value:
        raise BadRow(f"its picture is an address ({value}): download it, and name the file")
    if "\0" in value or value != replace_surrogates(value):
        raise BadRow("its picture has a name that no file has")
    file = value.strip()
    try:
        path = resolve_contained_file(
            collection.folder, file, may_leave=collection.may_leave_folder
        )
    except OutsideFolder as error:
        raise BadRow(str(error)) from None
    return path, file


def _find_text(cells: Mapping[str, Any], name: str | None) -> str | None:
    return None if name is None else _text(cells, name)


def _text(cells: Mapping[str, Any], name: str) -> str:
    """The text of a column that is to have one."""
    text = _to_plain(_refuse_bytes(cells, name)).strip()
    if not text:
        raise BadRow(f"its `{name}` is empty")
    return text


def _refuse_bytes(cells: Mapping[str, Any], name: str) -> Any:
    """The cell of a column. Raises `BadRow` for bytes, which are no text."""
    if _holds_bytes(cells[name]):
        raise BadRow(f"its `{name}` holds bytes, no text")
    return cells[name]


def _to_plain(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(clean_json(value)) if isinstance(value, str | int | float) else _json(value)


def _iterate_values(value: Any) -> Iterator[Any]:
    """Yield the values of a cell: a list, also as JSON, or a single value; none if it is empty."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(BadJson):
            value = parse_untrusted(value, keep_written_infinity)
    for item in value if isinstance(value, list) else [value]:
        if item is not None and _to_plain(item).strip():
            yield item


def _score(value: Any, scale: tuple[float, float] | None) -> float:
    low, high = scale or (-math.inf, math.inf)
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise BadRow(f"its human score {value!r} is no number")
    if not low <= score <= high:
        raise BadRow(f"its human score {score:g} is off the scale of {low:g} to {high:g}")
    return score


def _format_others(cells: Mapping[str, Any], used: tuple[str, ...]) -> str:
    other_cells = {name: value for name, value in cells.items() if name not in used}
    return _json({name: value for name, value in other_cells.items() if not _holds_bytes(value)})


def _holds_bytes(value: Any) -> bool:
    """Return whether a cell contains bytes, as of a picture or a file."""
    if isinstance(value, Mapping):
        return any(map(_holds_bytes, value.values()))
    return isinstance(value, bytes) or (isinstance(value, list) and any(map(_holds_bytes, value)))


def _json(value: Any) -> str:
    return json.dumps(clean_json(value), ensure_ascii=False, default=str)
