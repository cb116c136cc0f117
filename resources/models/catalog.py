"""The models that a user has: models.yaml, checked."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from resources.models.complaints import complaint
from resources.models.entry import BackendName, Model, Price, Role
from resources.models.yaml_lines import Document, Problem, read

__all__ = ["BackendName", "Catalog", "CatalogError", "Model", "Price", "Role", "load"]


class CatalogError(Exception):
    """models.yaml is of no use as it is; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models of one models.yaml, in the order of the file."""

    models: tuple[Model, ...]
    path: str = "models.yaml"

    def with_role(self, role: Role) -> tuple[Model, ...]:
        """The models that have a role."""
        return tuple(model for model in self.models if role in model.roles)


def load(path: Path | str) -> Catalog:
    """The models in a file; raises `CatalogError`, which names every problem and its line.

    A file without entries is a catalog without models.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise CatalogError(
            f"{path} is not there. It lists the models to use: write one (an empty file will do), "
            "or correct COUNTERFACTORY_MODELS if that is set."
        ) from None
    except OSError as error:
        raise CatalogError(
            f"{path} cannot be read ({error.strerror}). Make it a file that you may read."
        ) from None
    document = read(data)
    models = _models(document)
    if document.problems:
        entries = document.value if isinstance(document.value, list) else []
        lines = [
            f"  {path}, line {problem.line}{_entry_of(problem, entries)}: {problem.text}"
            for problem in sorted(document.problems)
        ]
        count = "one thing" if len(lines) == 1 else f"{len(lines)} things"
        raise CatalogError("\n".join([f"{path} has {count} to mend.", *lines]))
    return Catalog(tuple(models), str(path))


def _models(document: Document) -> list[Model]:
    """The entries that are right; what is wrong is added to the document's problems."""
    entries = document.value
    if entries is None:
        return []
    if not isinstance(entries, list):
        document.problems.append(Problem(1, "not a list of models: begin each with `- name: …`"))
        return []
    known_wrong = {problem.path for problem in document.problems}
    models: dict[int, Model] = {}
    for place, entry in enumerate(entries):
        try:
            models[place] = Model.model_validate(entry)
        except ValidationError as error:
            errors = error.errors(include_url=False)
            within = {each["loc"][:-1] for each in errors}
            for found in errors:
                at = (place, *found["loc"])
                # What pydantic says of a list whose only item is wrong: that it is empty.
                empty = found["type"] == "too_short" and found["loc"] in within
                if at in known_wrong or empty or found["type"] == "default_factory_not_called":
                    continue
                text = complaint(found, Model)
                document.problems.append(Problem(document.line(at), text, at))
    document.problems.extend(_shared(entries, models, document))
    return list(models.values())


def _shared(
    entries: Sequence[Any], models: Mapping[int, Model], document: Document
) -> Iterator[Problem]:
    """Names, and requests, that two entries have in common."""
    names: dict[str, int] = {}
    for place, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and names.setdefault(name.casefold(), place) != place:
            at, first = (place, "name"), document.line((names[name.casefold()], "name"))
            yield Problem(
                document.line(at),
                f"`name` {name!r} is taken on line {first} (capitals do not tell names apart): "
                "choose another",
                at,
            )
    requests: dict[str, int] = {}
    for place, model in models.items():
        asked = json.dumps([model.backend, model.model, model.parameters], sort_keys=True)
        earlier = requests.setdefault(asked, place)
        if earlier != place:
            at = (place, "model")
            where = f"`{models[earlier].name}` on line {document.line((earlier,))}"
            if models[earlier].base_url == model.base_url:
                text = f"the same model as {where}: keep one, with the roles of both"
            else:
                text = (
                    f"the same backend, model and parameters as {where} at another `base_url`: "
                    "they would share their answers. Let one server give its model another name"
                )
            yield Problem(document.line(at), text, at)


def _entry_of(problem: Problem, entries: Sequence[Any]) -> str:
    """How to call the entry that a problem is in, where it is in one."""
    place = problem.path[0] if problem.path else None
    if not isinstance(place, int):
        return ""
    entry = entries[place] if place < len(entries) else None
    name = entry.get("name") if isinstance(entry, dict) else None
    called = isinstance(name, str) and name and name.isprintable()
    return f", {name}" if called else f", entry {place + 1}"
