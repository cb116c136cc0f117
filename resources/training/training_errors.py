"""Errors that end a training, each with its remedy."""

from importlib import import_module
from typing import Any


class TrainingError(Exception):
    """A training cannot begin or go on; the message says why and what to do."""


def import_library(name: str) -> Any:
    """A library of the extra `train`, imported when it is needed; raises `TrainingError`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise TrainingError(
            f"Training needs {name}, which cannot be imported ({error}): install it with "
            "pip install 'counterfactory[train]'"
        ) from error
