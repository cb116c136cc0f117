"""Manifests: tables of pictures that were painted elsewhere, for the backend `folder`.

A row has a `prompt`, the `file` of its picture, and a `sample` or a `seed` where a prompt has
several; other columns are passed over. It answers the request with the same.
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple, TypeAlias

from resources.models.entry import Model
from resources.settings.locations import find_data_root
from resources.storage.atomic_writes import FilePath, is_remote
from resources.storage.files import find_tag, is_stored, open_file, resolve_path
from resources.user_files.contained_paths import OutsideFolder, require_contained
from resources.user_files.reader import read_rows
from resources.user_files.rows import (
    BadRow,
    Row,
    RowCells,
    TableFormat,
    Text,
    UserFileError,
    Whole,
    build_all,
    to_cells,
)

MANIFEST_COLUMNS = ("prompt", "seed", "sample", "file")
_KINDS = (".csv", ".tsv", ".jsonl", ".ndjson")
_FORMAT = TableFormat(columns=("prompt", "file"), encoding="utf-8", is_sheet=True)
_MAX_LENGTH = 200

_State: TypeAlias = tuple[int | str, ...]


class ManifestError(UserFileError):
    """A manifest cannot be used; the message says where and what to do."""


class _ManifestRow(RowCells):
    prompt: Text
    file: Text
    seed: Whole = None
    sample: Whole = None


class NotPainted(Exception):
    """A manifest has no picture for a request; the message names the prompt and the manifest."""


class PromptKey(NamedTuple):
    """The key of a row; `seed` is None where its painter takes none."""

    prompt: str
    seed: int | None
    sample: int


class ManifestEntry(NamedTuple):
    """A row: its place in the manifest, and the file of its picture, as it is named there."""

    place: str
    file: str


class PaintedFile(NamedTuple):
    """A row whose picture exists, and where that is."""

    place: str
    file: str
    path: FilePath


class PictureManifest(NamedTuple):
    """The rows of a manifest, by prompt, seed and sample."""

    path: FilePath
    rows: Mapping[PromptKey, ManifestEntry]
    may_leave_folder: bool

    def find(self, prompt_key: PromptKey) -> PaintedFile:
        """The row of a picture, whose file is there, in the folder. Raises `NotPainted`."""
        row = self.rows.get(prompt_key)
        if row is None:
            number = f"sample {prompt_key.sample}"
            number += "" if prompt_key.seed is None else f", seed {prompt_key.seed}"
            prompt = (
                prompt_key.prompt
                if len(prompt_key.prompt) < _MAX_LENGTH
                else f"{prompt_key.prompt[:_MAX_LENGTH]}…"
            )
            raise NotPainted(f"{self.path} has no row of the prompt {prompt!r}, {number}.")
        picture = resolve_path(self.path.parent, row.file)
        if not (is_stored(picture) if is_remote(picture) else picture.is_file()):
            raise NotPainted(f"{self.path}, {row.place}: {picture} is not there.")
        try:
            require_contained(self.path.parent, picture, may_leave=self.may_leave_folder)
        except OutsideFolder as error:
            raise NotPainted(f"{self.path}, {row.place}: {error}.") from None
        return PaintedFile(row.place, row.file, picture)


def to_prompt_key(model: Model, prompt: str, seed: int | None, sample: int) -> PromptKey:
    """Build a request's key, as manifests have it."""
    return PromptKey(prompt.strip(), seed if model.takes_seed else None, sample)


def load_manifest(model: Model) -> PictureManifest:
    """The manifest of a painter, read again once it has changed. Raises `ManifestError`.

    A relative path starts at the data root.
    """
    if "://" in model.model:
        raise ManifestError(
            f"{model.name}: the manifest {model.model} is an address. Download it with its "
            "pictures, and name the file."
        )
    path = resolve_path(find_data_root(), str(Path(model.model).expanduser()))
    if path.suffix.lower() not in _KINDS:
        raise ManifestError(
            f"{model.name}: {path} is no manifest. Name a file that ends in {', '.join(_KINDS)}."
        )
    try:
        state = _find_state(path)
    except OSError:
        raise ManifestError(
            f"{model.name}: the manifest {path} is not there. Write it, with the columns "
            f"{', '.join(MANIFEST_COLUMNS)}, or correct `model` in models.yaml. `counterfactory "
            f"prompts` "
            "lists what is to be painted."
        ) from None
    return _read(path, state, model.takes_seed, model.may_leave_folder)


def identify_picture_file(
    model: Model, prompt: str, seed: int | None, sample: int
) -> dict[str, str]:
    """Identify an answer by its file, as its row names it, and that file's sha256.

    Nothing where it is not painted yet.
    """
    try:
        row = load_manifest(model).find(to_prompt_key(model, prompt, seed, sample))
    except NotPainted:
        return {}
    return {"file": row.file, "sha256": digest_file(row.path)}


def digest_file(path: FilePath) -> str:
    """The sha256 of a file, read again once it has changed."""
    return _digest(path, _find_state(path))


def _find_state(path: FilePath) -> _State:
    """Find a file's state, which differs after a copy that keeps its times as well.

    Raises FileNotFoundError.
    """
    if is_remote(path):
        tag = find_tag(path)
        if tag is None:
            raise FileNotFoundError(f"{path} is not there.")
        return (tag,)
    file_stat = path.stat()
    return file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ctime_ns


@lru_cache(maxsize=200_000)
def _digest(path: FilePath, state: _State) -> str:
    with open_file(path) as file:
        return file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=16)
def _read(path: FilePath, state: _State, seeded: bool, may_leave_folder: bool) -> PictureManifest:
    pictures: dict[PromptKey, ManifestEntry] = {}

    def add(row: Row) -> None:
        cells = to_cells(row, _ManifestRow)
        if seeded and cells.seed is None:
            raise BadRow("it has no `seed`, and models.yaml says `seeds: true`")
        request = PromptKey(cells.prompt, cells.seed if seeded else None, cells.sample or 0)
        if request in pictures:
            raise BadRow(f"it answers the same request as {pictures[request].place}: keep one")
        pictures[request] = ManifestEntry(row.place, cells.file)

    try:
        build_all(path, read_rows(path, _FORMAT, _KINDS), add)
    except UserFileError as error:
        raise ManifestError(str(error)) from None
    return PictureManifest(path, pictures, may_leave_folder)
