"""The collections that a user has: collections.yaml, checked."""

import os
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import Any, TypeAlias

from resources import yaml_document
from resources.collections.entry import Collection
from resources.collections.problems import CollectionError
from resources.models.error_words import complaint
from resources.yaml_document import Document, Problem

Collections: TypeAlias = Mapping[str, Collection]
"""By name, in the order of the file."""


def collections_path() -> Path:
    """COUNTERFACTORY_COLLECTIONS, or collections.yaml beside definitions.py."""
    beside = Path(__file__).parents[2] / "collections.yaml"
    return Path(os.environ.get("COUNTERFACTORY_COLLECTIONS") or beside)


def load(path: Path | str, painters: Iterable[str] = ()) -> Collections:
    """The collections in a file, their paths absolute; a file without entries has none.

    Paths in it start at the file's folder. What they lead to is not looked at. None may be called
    as one of `painters`, for which it can stand.

    Raises `CollectionError`, which names every problem and its line.
    """
    document = yaml_document.load(
        path,
        f"{path} is not there. It lists image collections of your own: write one (an empty file "
        "will do), or correct COUNTERFACTORY_COLLECTIONS if that is set.",
        CollectionError,
    )
    if document.value is None:
        document.value = []
    elif not isinstance(document.value, list):
        document.add((), "not a list of collections: begin each with `- name: …`")
        document.value = []
    found = _read(document, {name.casefold() for name in painters})
    document.require_right(lambda each: _entry_of(each, document.value))
    base = Path(path).resolve().parent
    return {each.name: _absolute(each, base) for each in found.values()}


def _read(document: Document, painters: Set[str]) -> dict[int, Collection]:
    """By its place, each entry that is right; what is wrong is added to the document's problems."""
    found: dict[int, Collection] = {}
    names: dict[str, int] = {}
    for place, entry in enumerate(document.value):
        each = document.validated(Collection, entry, complaint, (place,))
        if each is None:
            continue
        found[place] = each
        first = names.setdefault(each.name.casefold(), place)
        where = f"taken on line {document.line((first, 'name'))}" if first != place else ""
        if each.name.casefold() in painters:
            where = "that of a painter in models.yaml, for which a collection can stand"
        if where:
            capitals = "(capitals do not tell names apart)"
            text = f"`name` {each.name!r} is {where} {capitals}: choose another"
            document.add((place, "name"), text)
    return found


def _absolute(collection: Collection, base: Path) -> Collection:
    given = {name: getattr(collection, name) for name in ("path", "images", "captions")}
    paths = {name: str(base / Path(path).expanduser()) for name, path in given.items() if path}
    return collection.model_copy(update=paths)


def _entry_of(problem: Problem, entries: list[Any]) -> str:
    """How to call the entry that a problem is in, where it is in one."""
    place = problem.path[0] if problem.path else None
    if not isinstance(place, int):
        return ""
    entry = entries[place]
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return f", {name}" if isinstance(name, str) and name.isprintable() else f", entry {place + 1}"
