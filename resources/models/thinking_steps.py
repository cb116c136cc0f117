"""The axis on which a judge thinks more or less, and its steps: `thinking` in models.yaml.

An axis is written as `parameters` are, with a list in place of one value and by the provider's own
names: `{reasoning_effort: [low, high]}`, `{thinking_config: {thinking_budget: [0, 1024, 8192]}}`.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

DEFAULT_STEP = "default"
"""The label of an entry whose own parameters leave the axis open."""
_EXAMPLE = "write one parameter and its values, as in {reasoning_effort: [low, medium, high]}"


class ThinkingStep(NamedTuple):
    """A value on an axis: its label, and the parameters of a request that has it."""

    label: str
    parameters: dict[str, Any]


def list_axis_steps(
    axis: Mapping[str, Any], parameters: Mapping[str, Any]
) -> tuple[ThinkingStep, ...]:
    """List the steps of an axis beside an entry's other parameters.

    Raises ValueError, with the remedy, where the axis is none.
    """
    path, values = _split(axis)
    labels = [format_step(value) for value in values]
    if not all(labels) or len({label.casefold() for label in labels}) < len(labels):
        raise ValueError(f"lists a step twice, or an empty one: {_EXAMPLE}")
    return tuple(
        ThinkingStep(label, _set(parameters, path, value))
        for label, value in zip(labels, values, strict=True)
    )


def name_axis(axis: Mapping[str, Any]) -> str:
    """The parameter that an axis varies: `thinking_config.thinking_budget`."""
    return ".".join(_split(axis)[0])


def find_own_step(axis: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """The label of the step that an entry's own parameters are; `DEFAULT_STEP` without a value."""
    value: Any = parameters
    for name in _split(axis)[0]:
        value = value.get(name) if isinstance(value, Mapping) else None
    return DEFAULT_STEP if value is None else format_step(value)


def format_step(value: Any) -> str:
    """The label of a value, of which a name can be made, as in enabled_4096."""
    words = map(format_step, value.values()) if isinstance(value, Mapping) else [str(value)]
    return re.sub(r"[^a-z0-9]+", "_", "_".join(words).lower()).strip("_")


def _split(axis: Mapping[str, Any]) -> tuple[tuple[str, ...], list[Any]]:
    path: list[str] = []
    value: Any = axis
    while isinstance(value, Mapping) and len(value) == 1:
        ((name, value),) = value.items()
        path.append(str(name))
    if not isinstance(value, list) or not value:
        raise ValueError(f"has no list of steps: {_EXAMPLE}")
    return tuple(path), value


def _set(parameters: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    name, *further = path
    if not further:
        return {**parameters, name: value}
    inner = parameters.get(name, {})
    if not isinstance(inner, Mapping):
        raise ValueError(f"goes below `{name}`, which `parameters` set to {inner!r}: remove that")
    return {**parameters, name: _set(inner, tuple(further), value)}
