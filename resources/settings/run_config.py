"""Config of runs, with readable error messages."""

from collections.abc import Iterable
from typing import Any

from dagster import Config as DagsterConfig
from dagster import ConfigurableResource
from pydantic import ValidationError
from pydantic_core import ErrorDetails


class BadConfig(ValueError):
    """A run's config has a value that is not taken; the message names the field."""


class _InWords:
    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            fields = getattr(type(self), "model_fields", {})
            raise BadConfig(_describe(error, fields)) from None


class Config(_InWords, DagsterConfig, extra="forbid"):
    """Config of a step, asset or job; raises `BadConfig`, as in "limit: -1 should be …"."""


class Resource(_InWords, ConfigurableResource[None]):
    """A resource that a run's config may change; raises `BadConfig`."""


def _describe(error: ValidationError, fields: Iterable[str]) -> str:
    """Describe all problems by field: the value given, and the value expected.

    `fields` are the allowed ones, which the message lists where a field is unknown.
    """
    return " ".join(
        ": ".join(
            filter(
                None,
                [".".join(map(str, problem["loc"])), _sentence(problem, fields)],
            )
        )
        for problem in error.errors(include_url=False)
    )


def _sentence(problem: ErrorDetails, fields: Iterable[str]) -> str:
    message = problem["msg"]
    if problem["type"] == "extra_forbidden":
        return f"unknown field. Allowed: {', '.join(sorted(fields))}."
    if message.startswith("Value error, "):
        return message.removeprefix("Value error, ")
    value = f"{problem['input']!r}"[:60]
    return f"{message.replace('Input', value, 1)}."
