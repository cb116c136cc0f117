"""Marks: concepts, cells and pictures that training and evaluation pairs may not share.

The folder of an adapter keeps those of its own pairs, hashed, beside its record, which names the
file and has its hash: what is evaluated later, as with a painter that was added, is held against
them.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from hashlib import sha256
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from assets.kit.pairs import TrainingPair
from assets.kit.tuning import TRAINED_ON
from resources.models.backends.adapters import FILES, read_checked_record, read_record
from resources.storage.atomic_writes import FilePath, write_atomically
from resources.storage.files import list_folder, open_file, remove_file
from resources.training.adapter_publication import record_file

Mark: TypeAlias = tuple[str, ...]
MarkLookup: TypeAlias = Callable[[Mark], str | None]
"""Gives the pair that has a mark; None where none has it."""
TRIPLET, CELL, PICTURE = "triplet", "concept, knob and setting", "picture"
_NAMES = "marks-*.parquet"
_SCHEMA = pa.schema([(name, pa.string()) for name in ("mark", "what", "pair", "split")])
_DIGITS, _NAMED = 32, 12


class BadMarks(ValueError):
    """A file of marks cannot be read; the message says what to do."""


def build_marks(pair: TrainingPair) -> Iterator[Mark]:
    """Build the marks that a training pair and an evaluation pair may not share."""
    yield TRIPLET, pair.concept_id
    yield (TRIPLET, pair.text, *pair.sentences)
    yield CELL, pair.domain, pair.concept, pair.knob, pair.setting
    yield PICTURE, pair.correct
    yield PICTURE, pair.adversarial


def index_by_mark(pairs: Iterable[TrainingPair]) -> dict[Mark, str]:
    """Map each mark to the name of a pair that has it."""
    return {mark: format_pair_name(pair) for pair in pairs for mark in build_marks(pair)}


def format_pair_name(pair: TrainingPair) -> str:
    """A pair's name among all painters."""
    return f"{pair.painter}/{pair.pair_id}"


def find_overlaps(
    pairs: Iterable[TrainingPair], others: MarkLookup
) -> Iterator[tuple[str, str, str]]:
    """The pairs that share something with others: their name, what it is, and with which one."""
    for pair in pairs:
        for mark in build_marks(pair):
            if (other := others(mark)) is not None:
                yield format_pair_name(pair), mark[0], other
                break


def add_marks(folder: UPath, pairs: Mapping[str, Iterable[TrainingPair]]) -> None:
    """Add the marks of pairs, by their split, to those of an adapter, and to its record.

    They are a file of another name, which takes the place of the one before once the record names
    it: whenever this is killed, record and marks fit. Raises `BadMarks`.
    """
    before = _find_marks_file(read_record(folder) or {})
    rows = {row["mark"]: row for row in (_rows(folder / before) if before else ())}
    for split, of_split in pairs.items():
        for mark, pair in index_by_mark(of_split).items():
            row = {"mark": _hash_mark(mark), "what": mark[0], "pair": pair, "split": split}
            rows.setdefault(row["mark"], row)
    data = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([*rows.values()], schema=_SCHEMA), data)
    name = f"marks-{sha256(data.getvalue()).hexdigest()[:_NAMED]}.parquet"
    write_atomically(folder / name, data.getvalue())
    record_file(folder, name, before)
    for other in list_folder(folder):
        if fnmatch(other.name, _NAMES) and other.name != name:
            remove_file(other)


def load_mark_finder(folder: FilePath) -> MarkLookup | None:
    """Return a look-up of the training or validation item of an adapter that has a mark.

    The item is a pair with its split, or a picture that a judge was fine-tuned on. None for an
    adapter that records no marks. Raises `BadMarks` and `BadRecord`.
    """
    record = read_checked_record(folder) or {}
    if TRAINED_ON in record:
        trained_pictures = frozenset(record[TRAINED_ON])
        return lambda mark: (
            f"{mark[-1]} (training)"
            if mark[0] == PICTURE and mark[-1] in trained_pictures
            else None
        )
    marks = _find_marks_file(record)
    if marks is None:
        return None
    pairs_by_mark = {
        row["mark"]: f"{row['pair']} ({row['split']})" for row in _rows(folder / marks)
    }
    return lambda mark: pairs_by_mark.get(_hash_mark(mark))


def _hash_mark(mark: Mark) -> str:
    return sha256(json.dumps(mark).encode()).hexdigest()[:_DIGITS]


def _find_marks_file(record: Mapping[str, Any]) -> str | None:
    """The name of the file of marks that a record has; None where it has none."""
    return next((name for name in record.get(FILES, {}) if fnmatch(name, _NAMES)), None)


def _rows(path: FilePath) -> list[dict[str, str]]:
    try:
        with open_file(path) as file:
            table = pq.read_table(file, partitioning=None).select(_SCHEMA.names)
    except (pa.ArrowInvalid, KeyError, OSError) as error:
        raise BadMarks(
            f"{path} cannot be read: {error}. Fetch the adapter again; or, if it was trained here, "
            "remove this file and materialize the adapter again, which trains nothing anew."
        ) from None
    rows: list[dict[str, str]] = table.to_pylist()
    return rows
