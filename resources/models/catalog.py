"""The models that a user has: models.yaml, checked, and what its patterns have found."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from resources.models import discovered_models
from resources.models.backend_names import BackendName, Role
from resources.models.entry import CatalogError, Model, Price
from resources.models.patterns import Pattern, extract_template, find_pattern_problems
from resources.storage.atomic_writes import FilePath
from resources.storage.files import find_local_folder
from resources.user_files.edited_files import load_user_file
from resources.user_files.yaml_document import Document, load_entries

__all__ = [
    "BackendName",
    "Catalog",
    "CatalogError",
    "CatalogFiles",
    "Model",
    "Pattern",
    "Price",
    "Role",
    "load_catalog",
]

ModelIdentity: TypeAlias = tuple[str, str | tuple[str, ...] | None, str]
"""A backend, the address or addresses of its servers, and the provider's id of a model."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models in a models.yaml, in its order, then those found by its `patterns`.

    Steps of thinking are models of their own, behind the entry that lists them.
    """

    models: tuple[Model, ...]
    path: str = "models.yaml"
    patterns: tuple[Pattern, ...] = ()

    def select_role(self, role: Role, *, has_steps: bool = False) -> tuple[Model, ...]:
        """The models that have a role; with `has_steps` the steps of judges' thinking as well."""
        steps = {step.name for model in self.models for step in list_step_models(model)}
        return tuple(
            model
            for model in self.models
            if role in model.roles and (has_steps or model.name not in steps)
        )


class CatalogFiles(NamedTuple):
    """The user's models.yaml, and the file of models that patterns have found."""

    models: Path
    discovered: FilePath

    def load(self) -> Catalog:
        """Load all models; raises `CatalogError`, but in a process of a run.

        A run takes the last models.yaml that could be read on this machine.
        """
        read = partial(load_catalog, self.models, self.discovered)
        copies = find_local_folder(self.discovered.parent)
        return load_user_file(self.models, copies, read, CatalogError)


def load_catalog(
    path: Path | str, discovered_path: FilePath | None = None, content: bytes | None = None
) -> Catalog:
    """Load the models of a file and of `discovered_path`; raises `CatalogError`.

    `content` is read in the place of the file's.

    The error names every problem and its line. A file without entries is a catalog without models.
    A found model that the file lists itself is left out.
    """
    path = Path(path)
    document = load_entries(
        path,
        f"{path} is not there. It lists the models to use: write one (an empty file will do), "
        "or correct COUNTERFACTORY_MODELS if that is set.",
        CatalogError,
        "models",
        content,
    )
    models, patterns = _read(document)
    document.require_right()
    catalog = Catalog(tuple(model for _, model in _iterate_models(models)), str(path), patterns)
    return (
        catalog
        if discovered_path is None
        else _add_found(catalog, discovered_path, document, models)
    )


def _read(document: Document) -> tuple[dict[int, Model], tuple[Pattern, ...]]:
    """Validate each entry, by its place; adds what is wrong to the document's problems."""
    models: dict[int, Model] = {}
    patterns: dict[int, Pattern] = {}
    for place, entry in enumerate(document.value):
        if isinstance(entry, dict) and "pattern" in entry:
            pattern = _pattern(document, place, entry)
            if pattern is not None:
                patterns[place] = pattern
        elif (model := document.validate(Model, entry, (place,))) is not None:
            models[place] = model
    document.check_names()
    _check_step_names(models, document)
    _check_requests(models, document)
    _check_patterns(patterns, document)
    return models, tuple(patterns.values())


def _pattern(document: Document, place: int, entry: dict[str, Any]) -> Pattern | None:
    before = len(document.problems)
    for field, text in find_pattern_problems(entry):
        document.add((place, field), text)
    template = extract_template(entry)
    fields = {"name": "pattern", "model": "pattern", **template}
    model = document.validate(Model, fields, (place,))
    right = model is not None and len(document.problems) == before
    return Pattern(entry["pattern"], template) if right else None


def list_step_models(model: Model) -> list[Model]:
    """The judges that an entry's axis of thinking adds to it."""
    return [step for _, step in model.thinking_steps if step is not model]


def _iterate_models(models: Mapping[int, Model]) -> Iterator[tuple[int, Model]]:
    """All models by the place of their entry, each with its steps behind it."""
    for place, model in models.items():
        yield place, model
        yield from ((place, step) for step in list_step_models(model))


def _check_step_names(models: Mapping[int, Model], document: Document) -> None:
    """Steps of thinking that have the name of another model."""
    names = {model.name.casefold(): place for place, model in models.items()}
    for place, model in _iterate_models(models):
        first = names.setdefault(model.name.casefold(), place)
        if model is not models[place] and first != place:
            text = f"its step {model.name!r} has the name of a model on line "
            document.add((place, "thinking"), f"{text}{document.line((first,))}: rename that")


def _check_requests(models: Mapping[int, Model], document: Document) -> None:
    """Requests that two entries have in common, which would share their answers."""
    requests: dict[str, tuple[int, Model]] = {}
    for place, model in _iterate_models(models):
        request_identity = json.dumps(
            [model.backend, model.model, model.parameters], sort_keys=True
        )
        earlier, earlier_model = requests.setdefault(request_identity, (place, model))
        if earlier == place:
            continue
        earlier_entry = f"`{earlier_model.name}` on line {document.line((earlier,))}"
        text = f"the same model as {earlier_entry}: keep one, with the roles of both"
        if set(earlier_model.base_urls) != set(model.base_urls):
            text = (
                f"the same backend, model and parameters as {earlier_entry} at another `base_url`: "
                "they would share their answers. List all servers of one model in one entry's "
                "`base_url`, or let one server give its model another name"
            )
        document.add((place, "model"), text)


def _check_patterns(patterns: Mapping[int, Pattern], document: Document) -> None:
    """Patterns of which the second would never get a model."""
    first_places: dict[tuple[Any, ...], int] = {}
    for place, pattern in patterns.items():
        first = first_places.setdefault((*pattern.source, pattern.pattern), place)
        if first != place:
            line = document.line((first, "pattern"))
            text = f"`pattern` is that of line {line}, which gets all that it matches: keep one"
            document.add((place, "pattern"), text)


def _add_found(
    catalog: Catalog, path: FilePath, document: Document, models: Mapping[int, Model]
) -> Catalog:
    """The catalog with the found models that it does not list itself."""
    listed = {to_identity(model) for model in catalog.models}
    records = [
        record.apply_pattern(catalog.patterns) for record in discovered_models.read_discovered(path)
    ]
    discovered = tuple(
        record.model for record in records if to_identity(record.model) not in listed
    )
    names = {model.name.casefold(): model for model in discovered}
    for place, model in models.items():
        if clashing_model := names.get(model.name.casefold()):
            document.add(
                (place, "name"),
                f"`name` {model.name!r} is that of {clashing_model.model}, which a pattern has "
                f"found ({path}): choose another",
            )
    document.require_right()
    return replace(catalog, models=(*catalog.models, *discovered))


def to_identity(model: Model) -> ModelIdentity:
    """Identify the provider's model of an entry, whatever its parameters."""
    return model.backend, model.base_url, model.model
