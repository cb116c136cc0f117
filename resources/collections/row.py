"""A row of a user's table, as it was read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from generators.nearest import nearest

Wanted: TypeAlias = Sequence[str]
"""The columns that a table has to have."""


class CollectionError(Exception):
    """collections.yaml, or a table that it names, cannot be used; the message says why."""


class BadRow(ValueError):
    """A row of a collection cannot be taken; the message says why."""


class Row(NamedTuple):
    """A row: its cells by column, or the `problem` for which it has none.

    `number` is from 1; `place` is what a reader finds it by, as in "line 8".
    """

    number: int
    place: str
    cells: Mapping[str, Any] = {}
    problem: str | None = None
    name: str | None = None
    """What the table itself calls it."""


def require_columns(path: Path, names: Sequence[str], wanted: Wanted) -> None:
    """Raise `CollectionError` unless a table has all columns that are wanted, and each once."""
    if twice := [name for name in names if list(names).count(name) > 1]:
        raise CollectionError(f"{path}: column {twice[0]!r} stands there twice. Rename one.")
    for name in wanted:
        if name not in names:
            raise CollectionError(
                f"{path}: no column {name!r}{nearest(name, names)}. Name it so, or name another."
            )
