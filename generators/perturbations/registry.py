"""The kinds of perturbation, found by looking into the folder `kinds`, and their plain form.

A kind is a module with one class derived from `Perturbation`; its name is the module's. Plain
forms stand in tables and in the keys of calls: `{"kind": "brightness", "factor": 1.3}`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from generators.fingerprint import fingerprint
from generators.name_suggestions import suggest_names
from generators.perturbations import kinds as _folder
from generators.perturbations.perturbation import BadParameter, Perturbation


@cache
def load_kinds() -> dict[str, type[Perturbation]]:
    """The kinds of perturbation by name, in alphabetical order."""
    return {module.name: _load_kind(module.name) for module in iter_modules(_folder.__path__)}


def _load_kind(name: str) -> type[Perturbation]:
    module = import_module(f"{_folder.__name__}.{name}")
    [kind] = (
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Perturbation)
        and value.__module__ == module.__name__
    )
    return kind


def build_perturbation(kind: str, /, **parameters: object) -> Perturbation:
    """The perturbation of a kind's name with its parameters.

    Raises `BadParameter` for a kind or a parameter that does not exist, for one that is missing,
    and for a value off its range.

    >>> build_perturbation("padding", thickness=40)
    Padding(thickness=40)
    """
    kind_class = load_kinds().get(kind)
    if kind_class is None:
        raise BadParameter(
            f"Perturbations: unknown kind {kind!r}{suggest_names(kind, load_kinds())}."
        )
    allowed_names = [field.name for field in fields(kind_class)]
    for name in parameters:
        if name not in allowed_names:
            raise BadParameter(
                f"{kind}: unknown parameter {name!r}{suggest_names(name, allowed_names)}."
            )
    build: Any = kind_class
    try:
        built: Perturbation = build(**parameters)
    except TypeError as missing:
        raise BadParameter(f"{kind}: {missing}. Give {', '.join(allowed_names)}.") from None
    return built


def to_mapping(perturbation: Perturbation) -> dict[str, str | int | float]:
    """The plain form of a perturbation."""
    return {"kind": perturbation.name, **perturbation.parameters}


def from_mapping(plain: Mapping[str, Any]) -> Perturbation:
    """The perturbation of a plain form; raises `BadParameter` as `build_perturbation` does."""
    parameters = dict(plain)
    return build_perturbation(str(parameters.pop("kind", "")), **parameters)


def to_json(perturbations: Iterable[Perturbation]) -> str:
    """A sequence of perturbations as text: equal ones, and no others, give the same.

    >>> to_json([build_perturbation("brightness", factor=2)])
    '[{"factor":2.0,"kind":"brightness"}]'
    """
    plain = [to_mapping(perturbation) for perturbation in perturbations]
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def from_json(text: str) -> tuple[Perturbation, ...]:
    """The sequence that `to_json` wrote."""
    return tuple(map(from_mapping, json.loads(text)))


def fingerprint_perturbations(perturbations: Iterable[Perturbation]) -> str:
    """Digest the code of these perturbations, as a key of what it made."""
    modules = {type(perturbation).__module__ for perturbation in perturbations}
    return fingerprint("generators.perturbations.pipeline", *sorted(modules))
