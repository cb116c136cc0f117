"""Files that a user edits while runs start: a run uses the last content that could be read."""

import multiprocessing
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from os import environ
from pathlib import Path
from typing import TypeVar

from resources.faults import StoreError
from resources.storage.atomic_writes import write_atomically

Value = TypeVar("Value")

FORKED_STEPS = "resources.execution.forked_steps"
"""The module that marks the process from which steps are forked."""

fallback_warnings: list[str] = []
"""Warnings of this process about files of which it uses an earlier content."""


def load_user_file(
    path: Path, copies: Path, load: Callable[[bytes | None], Value], fault: type[Exception]
) -> Value:
    """Load a file, and keep a copy of its content in the folder `copies`, if that is there.

    Both are on this machine: what a run falls back to is the file that it has here.

    `load` takes the content, or None where the file cannot be opened, and raises `fault`. A process
    of a run loads the copy then, since it could only fail; in all others the fault is raised.
    """
    name = sha256(str(path.absolute()).encode()).hexdigest()[:8]
    copy = copies / f".{path.stem}.{name}.yaml"
    content = _read(path)
    try:
        value = load(content)
    except fault as error:
        last_content = _read(copy)
        if last_content is None or not _executes_run():
            raise
        fallback_warnings.append(f"This run uses the last readable content of {path}. {error}")
        return load(last_content)
    if content and copies.is_dir() and content != _read(copy):
        with suppress(StoreError):
            write_atomically(copy, content)
    return value


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _executes_run() -> bool:
    """True in a process that executes a run or a step.

    Dagster starts it by multiprocessing, or on another machine, with the step's key.
    """
    return (
        multiprocessing.parent_process() is not None
        or FORKED_STEPS in sys.modules
        or "DAGSTER_RUN_STEP_KEY" in environ
    )
