"""Files of entries, read and checked: every problem named with its line, and the remedy."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from resources.models.complaints import complaint
from resources.models.entry import Model
from resources.models.yaml_lines import Document, Problem, read


class CatalogError(Exception):
    """A file of models is of no use as it is; the message says where and what to do."""


def entries_of(path: Path, absent: str) -> Document:
    """The list of entries in a file, its value; none is an empty list.

    Raises `CatalogError` where the file cannot be read, in the words of `absent` where it is not
    there.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CatalogError(absent) from None
    except OSError as error:
        raise CatalogError(
            f"{path} cannot be read ({error.strerror}). Make it a file that you may read."
        ) from None
    document = read(data)
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
    try:
        return Model.model_validate(entry)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    known_wrong = {problem.path for problem in document.problems}
    within = {each["loc"][:-1] for each in errors}
    for found in errors:
        at = (place, *found["loc"])
        # What pydantic says of a list whose only item is wrong: that it is empty.
        empty = found["type"] == "too_short" and found["loc"] in within
        if at in known_wrong or empty or found["type"] == "default_factory_not_called":
            continue
        text = complaint(found, Model)
        if found["type"] == "missing" and found["loc"] == ("model",):
            text += ", or `pattern` in its place"
        document.problems.append(Problem(document.line(at), text, at))
    return None


def require_right(path: Path, document: Document) -> None:
    """Raise `CatalogError` with all the problems of a document, if it has any."""
    if not document.problems:
        return
    lines = [
        f"  {path}, line {problem.line}{_entry_of(problem, document.value)}: {problem.text}"
        for problem in sorted(document.problems)
    ]
    count = "one thing" if len(lines) == 1 else f"{len(lines)} things"
    raise CatalogError("\n".join([f"{path} has {count} to mend.", *lines]))


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
