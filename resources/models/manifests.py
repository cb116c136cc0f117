"""Manifests: tables of pictures that were painted elsewhere, for the backend `folder`.

A row has a `prompt`, the `file` of its picture, and a `sample` or a `seed` where a prompt has
several; other columns are passed over. It answers the request with the same.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import file_digest
from os import stat_result
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from resources.collections import CollectionError
from resources.collections.row import Row
from resources.collections.tables import rows_of
from resources.contained_paths import OutsideFolder, file_within
from resources.models.data_root import data_root
from resources.models.entry import Model
from resources.spreadsheets import unguarded

COLUMNS = ("prompt", "seed", "sample", "file")
_SHEETS = (".csv", ".tsv")
_KINDS = (*_SHEETS, ".jsonl", ".ndjson")
_TOLD = 20
_LONGEST = 200

_State: TypeAlias = tuple[int, ...]


class ManifestError(ValueError):
    """A manifest cannot be used; the message says where and what to do."""


class NotPainted(Exception):
    """A manifest has no picture for a request; the message names the prompt and the manifest."""


class Wanted(NamedTuple):
    """What a row is about; `seed` is None where its painter is told none."""

    prompt: str
    seed: int | None
    sample: int


class Painted(NamedTuple):
    """A row: its place in the manifest, and the file of its picture, as it is named there."""

    place: str
    file: str
    path: Path


class Manifest(NamedTuple):
    """What a manifest holds."""

    path: Path
    rows: Mapping[Wanted, Painted]
    may_leave_folder: bool

    def find(self, wanted: Wanted) -> Painted:
        """The row of a picture, whose file is there, in the folder. Raises `NotPainted`."""
        row = self.rows.get(wanted)
        if row is None:
            number = f"sample {wanted.sample}"
            number += "" if wanted.seed is None else f", seed {wanted.seed}"
            said = (
                wanted.prompt if len(wanted.prompt) < _LONGEST else f"{wanted.prompt[:_LONGEST]}…"
            )
            raise NotPainted(f"{self.path} has no row of the prompt {said!r}, {number}.")
        if not row.path.is_file():
            raise NotPainted(f"{self.path}, {row.place}: {row.path} is not there.")
        try:
            file_within(self.path.parent, row.file, may_leave=self.may_leave_folder)
        except OutsideFolder as error:
            raise NotPainted(f"{self.path}, {row.place}: {error}.") from None
        return row


def wanted_of(model: Model, prompt: str, seed: int | None, sample: int) -> Wanted:
    """What a request is about, as manifests have it."""
    return Wanted(prompt.strip(), seed if model.takes_seed else None, sample)


def manifest_of(model: Model) -> Manifest:
    """The manifest of a painter, read again once it has changed. Raises `ManifestError`.

    A relative path starts at the data root.
    """
    if "://" in model.model:
        raise ManifestError(
            f"{model.name}: the manifest {model.model} is an address. Download it with its "
            "pictures, and name the file."
        )
    path = data_root() / Path(model.model).expanduser()
    if path.suffix.lower() not in _KINDS:
        raise ManifestError(
            f"{model.name}: {path} is no manifest. Name a file that ends in {', '.join(_KINDS)}."
        )
    try:
        told = path.stat()
    except OSError:
        raise ManifestError(
            f"{model.name}: the manifest {path} is not there. Write it, with the columns "
            f"{', '.join(COLUMNS)}, or correct `model` in models.yaml. `counterfactory prompts` "
            "lists what is to be painted."
        ) from None
    return _read(path, _state_of(told), model.takes_seed, model.may_leave_folder)


def named_by(model: Model, prompt: str, seed: int | None, sample: int) -> dict[str, str]:
    """What identifies an answer: the file, as its row names it, and its sha256.

    Nothing where it is not painted yet.
    """
    try:
        row = manifest_of(model).find(wanted_of(model, prompt, seed, sample))
    except NotPainted:
        return {}
    return {"file": row.file, "sha256": digest_of(row.path)}


def digest_of(path: Path) -> str:
    """The sha256 of a file, read again once it has changed."""
    return _digest(path, _state_of(path.stat()))


def _state_of(told: stat_result) -> _State:
    """What differs once a file was written or replaced, by a copy that keeps its times as well."""
    return told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns


@lru_cache(maxsize=200_000)
def _digest(path: Path, state: _State) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=16)
def _read(path: Path, state: _State, seeded: bool, may_leave_folder: bool) -> Manifest:
    try:
        rows, problems = _checked(path, rows_of(path, ("prompt", "file")), seeded)
    except CollectionError as error:
        raise ManifestError(str(error)) from None
    if problems:
        more = len(problems) - _TOLD
        lines = [f"  {path}, {each}" for each in problems[:_TOLD]]
        lines += [f"  and {more:,} more"] if more > 0 else []
        raise ManifestError("\n".join([f"{path} has {len(problems):,} rows with errors.", *lines]))
    return Manifest(path, rows, may_leave_folder)


def _checked(
    path: Path, rows: Iterable[Row], seeded: bool
) -> tuple[dict[Wanted, Painted], list[str]]:
    found: dict[Wanted, Painted] = {}
    problems: list[str] = []
    for row in rows:
        try:
            wanted, painted = _painted(path, row, seeded)
            earlier = found.setdefault(wanted, painted)
            if earlier is not painted:
                raise ValueError(f"it answers what {earlier.place} answers: keep one")
        except ValueError as problem:
            problems.append(f"{row.place}: {problem}.")
    return found, problems


def _painted(path: Path, row: Row, seeded: bool) -> tuple[Wanted, Painted]:
    """What a row is about; raises ValueError, with what is wrong."""
    if row.problem is not None:
        raise ValueError(row.problem)
    guarded = path.suffix.lower() in _SHEETS
    prompt, file = (_text(row.cells, name, guarded) for name in ("prompt", "file"))
    seed, sample = (_number(row.cells, name) for name in ("seed", "sample"))
    if seeded and seed is None:
        raise ValueError("it has no `seed`, and models.yaml says `seeds: true`")
    wanted = Wanted(prompt, seed if seeded else None, sample or 0)
    return wanted, Painted(row.place, file, path.parent / file)


def _text(cells: Mapping[str, Any], name: str, guarded: bool) -> str:
    value = cells.get(name)
    text = value if isinstance(value, str) else ""
    text = (unguarded(text) if guarded else text).strip()
    if not text or "\0" in text:
        raise ValueError(f"its `{name}` is empty, or no text")
    return text


def _number(cells: Mapping[str, Any], name: str) -> int | None:
    value = cells.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    said = str(value).strip().removesuffix(".0")
    if isinstance(value, bool) or not re.fullmatch("[0-9]{1,18}", said):
        raise ValueError(f"its `{name}` is {value!r}, not a whole number from 0")
    return int(said)
