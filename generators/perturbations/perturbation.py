"""Perturbations: frozen dataclasses of checked parameters that turn pixels into pixels.

A kind states its parameters as annotated fields, from which they are checked, written and read:

    class Brightness(Perturbation):
        factor: Annotated[float, Span(0.05, 10)]
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from math import inf
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_origin, get_type_hints

from generators.name_suggestions import suggest_names
from generators.perturbations.subject import Subject
from generators.reading import Pixels


class BadParameter(ValueError):
    """An unknown parameter of a perturbation, or a value outside its range."""


class ParameterRange(NamedTuple):
    """The least and the largest value of a parameter, both allowed."""

    least: float
    most: float


@dataclass(frozen=True, kw_only=True)
class Perturbation(ABC):
    """A change of a picture, with its parameters; equal ones make equal bytes.

    `is_overlay` says that it lays something over the picture, which may hide what is counted.
    """

    title: ClassVar[str]
    is_overlay: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, (kind, span) in _list_parameters(type(self)).items():
            value = _check_value(f"{self.name}.{name}", getattr(self, name), kind, span)
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """The kind's name in the registry: that of its module."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def parameters(self) -> dict[str, str | int | float]:
        """Its parameters by name, as plain values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @abstractmethod
    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The changed picture, of H x W x 3 values of uint8; `pixels` stay as they are.

        Raises `generators.perturbations.subject.Inapplicable` for a picture or a subject that it
        cannot be made of.
        """

    def find_corner(self, before: Pixels, after: Pixels) -> tuple[int, int]:
        """The place in `after` of the upper left pixel of `before`: from the left and the top."""
        return 0, 0


@cache
def _list_parameters(kind: type[Perturbation]) -> dict[str, tuple[Any, ParameterRange | None]]:
    hints = get_type_hints(kind, include_extras=True)
    parameters: dict[str, tuple[Any, ParameterRange | None]] = {}
    for field in fields(kind):
        hint, span = hints[field.name], None
        if hasattr(hint, "__metadata__"):
            (span,), hint = hint.__metadata__, hint.__origin__
        parameters[field.name] = hint, span
    return parameters


def _check_value(
    parameter: str, value: object, kind: Any, span: ParameterRange | None
) -> str | int | float:
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        if value not in choices:
            raise BadParameter(
                f"{parameter}: unknown value {value!r}{suggest_names(str(value), choices)}."
            )
        return str(value)
    is_whole_number = kind is int
    is_finite_number = (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf
    )
    if not is_finite_number or (is_whole_number and value != int(value)):  # type: ignore[call-overload]
        number = "a whole number" if is_whole_number else "a number"
        raise BadParameter(
            f"{parameter}: {value!r} is not {number}. Give one{_format_range(span)}."
        )
    if span is not None and not span.least <= value <= span.most:  # type: ignore[operator]
        raise BadParameter(
            f"{parameter}: {value!r} is out of range. Give one{_format_range(span)}."
        )
    converted: int | float = kind(value)
    return converted


def _format_range(span: ParameterRange | None) -> str:
    return "" if span is None else f" from {span.least:g} to {span.most:g}"
