"""Config of runs, whose mistakes are told in words."""

from typing import Any

from dagster import Config as DagsterConfig
from dagster import ConfigurableResource
from pydantic import ValidationError


class BadConfig(ValueError):
    """A run's config has a value that is not taken; the message names the field."""


class _InWords:
    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise BadConfig(format_validation_error(error)) from None


class Config(_InWords, DagsterConfig):
    """Config of a step, asset or job; raises `BadConfig`, as in "limit: -1 should be …"."""


class Resource(_InWords, ConfigurableResource[None]):
    """A resource that a run's config may change; raises `BadConfig`."""


def format_validation_error(error: ValidationError) -> str:
    """Describe all problems by field: the value given, and the value expected."""
    return " ".join(
        ": ".join(
            filter(
                None,
                [".".join(map(str, problem["loc"])), _sentence(problem["msg"], problem["input"])],
            )
        )
        for problem in error.errors(include_url=False)
    )


def _sentence(message: str, value: Any) -> str:
    if message.startswith("Value error, "):
        return message.removeprefix("Value error, ")
    return f"{message.replace('Input', f'{value!r}'[:60], 1)}."
