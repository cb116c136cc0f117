"""A collection as rows: everything checked, each row taken or rejected with the reason."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from math import fsum
from pathlib import Path
from typing import Any

from resources.collections.captions import read_captions
from resources.collections.entry import Collection
from resources.collections.folders import read_table_or_folder
from resources.collections.layouts import LAYOUTS
from resources.collections.pictures import Taken, take
from resources.collections.reading import TEXTS, Item, add_captions, build_item
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.user_files.rows import BadRow, Row, TableFormat, UserFileError

_NOTHING = Item(
    "",
    b"",
    dict.fromkeys((*TEXTS, "file")) | {"references": [], "human_scores": [], "other_columns": "{}"},
)
_WORDS = ("text", "question", "options", "answer")


def collect(
    collection: Collection, images: ImageStore, work_cache: WorkCache
) -> Iterator[dict[str, Any]]:
    """A row for each row of the table, in its order; the pictures are in the store by then.

    Raises `UserFileError` if the table as a whole cannot be used.
    """
    has_all_words = bool(collection.layout or collection.columns.responses)
    earlier = _Earlier(_WORDS + ("other_columns",) * has_all_words)
    read = _read(collection)
    pictures = (((row, item), item.image if isinstance(item, Item) else item) for row, item in read)
    empty = True
    for (row, item), picture in take(pictures, images, work_cache):
        empty = False
        if isinstance(item, str):
            yield _row(collection, row, _NOTHING, Taken(problem=item))
        else:
            problem = picture.problem or earlier.find_twin(row, item, picture)
            yield _row(collection, row, item, Taken(problem=problem) if problem else picture)
    if empty:
        raise UserFileError(f"{collection.path} holds no rows. Correct `path`.")


def _read(collection: Collection) -> Iterator[tuple[Row, Item | str]]:
    """Yield each row with its item, or with the reason why it has none."""
    table_format = TableFormat(
        columns=collection.columns.used,
        heads=collection.heads,
        encoding=collection.encoding,
        remedy="Correct `path` in collections.yaml.",
    )
    captions = collection.captions and read_captions(Path(collection.captions), collection.encoding)
    read_rows = LAYOUTS.get(collection.layout or "", read_table_or_folder)
    for row in read_rows(Path(collection.path), table_format):
        try:
            item = build_item(row, collection)
            yield row, add_captions(item, captions) if captions else item
        except BadRow as problem:
            yield row, str(problem)


class _Earlier:
    """Rows taken so far, to find one that repeats them."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._items: dict[bytes, str] = {}
        self._names: dict[str, str] = {}

    def find_twin(self, row: Row, item: Item, picture: Taken) -> str | None:
        """Explain why a row repeats an earlier one; None if it does not, and record it then."""
        words = map(item.cells.get, self._words)
        identity = "\0".join((str(picture.sha256), *(word or "" for word in words)))
        digest = sha256(identity.encode()).digest()
        if digest in self._items:
            return f"it has the picture and the words of {self._items[digest]}: keep one"
        if item.name in self._names:
            return f"it has the name {item.name!r}, as does {self._names[item.name]}: rename one"
        self._items[digest] = self._names[item.name] = row.place
        return None


def _row(collection: Collection, row: Row, item: Item, picture: Taken) -> dict[str, Any]:
    low, high = collection.scale or (None, None)
    scores = item.cells["human_scores"]
    problem = picture.problem
    return {
        **item.cells,
        "image_id": f"{collection.name}/{item.name or row.name or row.number}",
        "row": row.number,
        "location": row.place,
        "outcome": "rejected" if problem else "taken",
        "reason": f"{problem[0].upper()}{problem[1:]}." if problem else None,
        "sha256": picture.sha256,
        "width": picture.width,
        "height": picture.height,
        "human_score": fsum(scores) / len(scores) if scores else None,
        "scale_low": low,
        "scale_high": high,
    }
