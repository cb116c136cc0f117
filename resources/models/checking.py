"""Files of models, read and checked: every problem with its line, its entry and the remedy."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from resources import yaml_document
from resources.models.entry import Model
from resources.models.error_words import complaint
from resources.yaml_document import Document, Problem


class CatalogError(Exception):
    """A file of models cannot be used; the message says where and what to do."""


def entries_of(path: Path, absent: str) -> Document:
    """The list of entries in a file; raises `CatalogError` where it cannot be read or is gone."""
    document = yaml_document.load(path, absent, CatalogError)
    if document.value is None:
        document.value = []
    elif not isinstance(document.value, list):
        document.problems.append(Problem(1, "not a list of models: begin each with `- name: …`"))
        document.value = []
    return document


def checked(document: Document, place: int, entry: Any) -> Model | None:
    """The model of an entry; None, and what is wrong among the document's problems, if it is none.

    `entry` is what stands at `place`, or what is made of that.
    """
    return document.validated(Model, entry, _words, (place,))


def require_right(document: Document) -> None:
    """Raise `CatalogError` with all the problems of a document, if it has any."""
    document.require_right(lambda each: _entry_of(each, document.value))


def _words(error: ErrorDetails, shape: type[BaseModel]) -> str:
    pattern = error["type"] == "missing" and error["loc"] == ("model",)
    return complaint(error, shape) + (", or `pattern` in its place" if pattern else "")


def _entry_of(problem: Problem, entries: list[Any]) -> str:
    """How to call the entry that a problem is in, where it is in one."""
    place = problem.path[0] if problem.path else None
    if not isinstance(place, int):
        return ""
    entry = entries[place] if place < len(entries) else None
    given = entry if isinstance(entry, Mapping) else {}
    name = given.get("name", given.get("pattern"))
    called = isinstance(name, str) and name and name.isprintable()
    return f", {name}" if called else f", entry {place + 1}"
