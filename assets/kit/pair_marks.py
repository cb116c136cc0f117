"""Marks of pairs: what one that is trained on and one that is judged by may not have in common.

The folder of an adapter keeps those of its own pairs, hashed, beside its record, which has the hash
of them all: what is evaluated later, as with a painter that was added, is held against them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from assets.kit.pairs import Pair
from assets.kit.tuning import TRAINED_ON
from resources.atomic_writes import whole_file
from resources.faults import writing
from resources.models.backends.adapters import FILES, checked_record

Mark: TypeAlias = tuple[str, ...]
Finder: TypeAlias = Callable[[Mark], str | None]
"""Gives the pair that has a mark; None where none has it."""
TRIPLET, CELL, PICTURE = "triplet", "concept, knob and place", "picture"
MARKS = "marks.parquet"
_SCHEMA = pa.schema([(name, pa.string()) for name in ("mark", "what", "pair", "split")])
_DIGITS = 32


class BadMarks(ValueError):
    """A file of marks cannot be read; the message says what to do."""


def marks_of(pair: Pair) -> Iterator[Mark]:
    """What two pairs may not have in common of which one is trained on and one is judged by."""
    yield TRIPLET, pair.concept_id
    yield (TRIPLET, pair.text, *pair.sentences)
    yield CELL, pair.domain, pair.concept, pair.knob, pair.place
    yield PICTURE, pair.correct
    yield PICTURE, pair.adversarial


def marked(pairs: Iterable[Pair]) -> dict[Mark, str]:
    """By what may not be shared: a pair that has it."""
    return {mark: named(pair) for pair in pairs for mark in marks_of(pair)}


def named(pair: Pair) -> str:
    """A pair's name among all painters."""
    return f"{pair.painter}/{pair.pair_id}"


def overlapping(pairs: Iterable[Pair], others: Finder) -> Iterator[tuple[str, str, str]]:
    """The pairs that share something with others: their name, what it is, and with which one."""
    for pair in pairs:
        for mark in marks_of(pair):
            if (other := others(mark)) is not None:
                yield named(pair), mark[0], other
                break


def write_marks(folder: Path, pairs: Mapping[str, Iterable[Pair]]) -> None:
    """Add the marks of pairs, by their split, to those that a folder has. Raises `BadMarks`."""
    rows = {row["mark"]: row for row in _rows(folder) or ()}
    for split, of_split in pairs.items():
        for mark, pair in marked(of_split).items():
            row = {"mark": _hashed(mark), "what": mark[0], "pair": pair, "split": split}
            rows.setdefault(row["mark"], row)
    path = folder / MARKS
    with writing(path), whole_file(path) as file:
        pq.write_table(pa.Table.from_pylist([*rows.values()], schema=_SCHEMA), file)


def marks_in(folder: Path) -> Finder | None:
    """Finds what an adapter was trained or chosen by that has a mark; None where nobody can say.

    That is a pair with its split, or a picture of what a judge was fine-tuned on. Raises `BadMarks`
    and `BadRecord`.
    """
    record = checked_record(folder) or {}
    if TRAINED_ON in record:
        seen = frozenset(record[TRAINED_ON])
        return lambda mark: (
            f"{mark[-1]} (training)" if mark[0] == PICTURE and mark[-1] in seen else None
        )
    if MARKS not in record.get(FILES, {}):
        return None
    found = {row["mark"]: f"{row['pair']} ({row['split']})" for row in _rows(folder) or ()}
    return lambda mark: found.get(_hashed(mark))


def _hashed(mark: Mark) -> str:
    return sha256(json.dumps(mark).encode()).hexdigest()[:_DIGITS]


def _rows(folder: Path) -> list[dict[str, str]] | None:
    path = folder / MARKS
    if not path.exists():
        return None
    try:
        table = pq.read_table(path, partitioning=None).select(_SCHEMA.names)
    except (pa.ArrowInvalid, KeyError, OSError) as error:
        raise BadMarks(
            f"{path} cannot be read: {error}. Fetch the adapter again; or, if it was trained here, "
            "remove this file and materialize the adapter again, which trains nothing anew."
        ) from None
    rows: list[dict[str, str]] = table.to_pylist()
    return rows
