"""The collections that a user has: collections.yaml, checked."""

import os
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import TypeAlias

from resources.collections.entry import Collection
from resources.settings.project_folder import find_project_folder
from resources.user_files.rows import UserFileError
from resources.user_files.yaml_document import Document, load_entries

Collections: TypeAlias = Mapping[str, Collection]
"""Collections by name, in the order of the file."""


class CollectionError(UserFileError):
    """A collection cannot be used; the message names the place and the remedy."""


def collections_path() -> Path:
    """COUNTERFACTORY_COLLECTIONS, or collections.yaml of the project."""
    named = os.environ.get("COUNTERFACTORY_COLLECTIONS")
    return Path(named or find_project_folder() / "collections.yaml")


def load(
    path: Path | str, painters: Iterable[str] = (), content: bytes | None = None
) -> Collections:
    """The collections in a file, their paths absolute; a file without entries has none.

    Paths in it start at the file's folder. What they lead to is not looked at. None may be called
    as one of `painters`, for which it can stand. `content` is read in the place of the file's.

    Raises `CollectionError`, which names every problem and its line.
    """
    document = load_entries(
        path,
        f"{path} is not there. It lists image collections of your own: write one (an empty file "
        "will do), or correct COUNTERFACTORY_COLLECTIONS if that is set.",
        CollectionError,
        "collections",
        content,
    )
    collections = _read(document, {name.casefold() for name in painters})
    document.check_names()
    document.require_right()
    base = Path(path).resolve().parent
    return {collection.name: _resolve_paths(collection, base) for collection in collections}


def _read(document: Document, painters: Set[str]) -> list[Collection]:
    """Return each valid entry; add the problems of others to the document's problems."""
    collections = []
    for place, entry in enumerate(document.value):
        collection = document.validate(Collection, entry, (place,))
        if collection is None:
            continue
        collections.append(collection)
        if collection.name.casefold() in painters:
            text = (
                f"`name` {collection.name!r} is that of a painter in models.yaml, for which a "
                "collection can stand (capitals do not tell names apart): choose another"
            )
            document.add((place, "name"), text)
    return collections


def _resolve_paths(collection: Collection, base: Path) -> Collection:
    given_paths = {name: getattr(collection, name) for name in ("path", "images", "captions")}
    paths = {
        name: str(base / Path(path).expanduser()) for name, path in given_paths.items() if path
    }
    return collection.model_copy(update=paths)
