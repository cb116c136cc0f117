"""Tasks for workers: pickled work, with the fingerprint of the code that it is for.

A worker may run other code than the process that it serves: on another machine the same path may
hold another version, and on this one a file may be edited meanwhile. Its results would be filed
under the wrong version, so that it refuses.
"""

import pickle
import socket
from collections.abc import Callable, Sequence
from functools import cache
from textwrap import shorten
from traceback import format_exc
from typing import Any, NamedTuple, TypeAlias

from resources.execution.code_versions import read_code_versions

Work: TypeAlias = Callable[..., Any]
Outcome: TypeAlias = tuple[Exception | None, Any]
"""The error of an item, or None and its result."""

ATTEMPTS = 3
"""Workers that an item may end before it is given up."""
_NAMED_FILES = 3


class WorkerDied(Exception):
    """The system ended each worker process that an item was given to."""


class OtherCode(Exception):
    """A worker has other code, or other versions of libraries, than the process that it serves."""


class WorkerTask(NamedTuple):
    """Work for some items; unpickling `payload` imports the first of `modules`, the work's own."""

    modules: tuple[str, ...]
    fingerprint: str
    payload: bytes


class CodeContents(NamedTuple):
    """Sent by a worker that refuses a task: its host, folder, files and libraries."""

    host: str
    root: str
    contents: dict[str, str]


Reply: TypeAlias = list[Outcome] | CodeContents
"""Outcomes by item, or the code of a worker that refuses."""


def pack_task(
    work: Work, items: Sequence[tuple[Any, ...]], further_modules: Sequence[str] = ()
) -> WorkerTask:
    """Build the task of doing `work`, a module's function, with the arguments of each item.

    `further_modules` are those that the work imports by names which no text of the code has.
    """
    modules = (work.__module__, *further_modules)
    return WorkerTask(modules, fingerprint_code(*modules), pickle.dumps((work, items)))


def perform_task(task: WorkerTask) -> Reply:
    """Do a task, in a worker; returns one outcome per item, or the code of a worker with other."""
    if contents := find_other_code(task):
        return contents
    work, items = pickle.loads(task.payload)
    return [_perform(work, arguments) for arguments in items]


def find_other_code(task: WorkerTask) -> CodeContents | None:
    """Return the code of this worker where it is not the one that a task is for."""
    if fingerprint_code(*task.modules) == task.fingerprint:
        return None
    versions = read_code_versions()
    contents = versions.list_contents([*task.modules, __name__])
    return CodeContents(socket.gethostname(), str(versions.root), contents)


def read_outcomes(task: WorkerTask, reply: Reply) -> list[Outcome]:
    """Return the outcomes in a worker's reply; raises `OtherCode` where it refused the task."""
    if not isinstance(reply, CodeContents):
        return reply
    contents = read_code_versions().list_contents([*task.modules, __name__])
    names = sorted(
        name for name in contents | reply.contents if contents.get(name) != reply.contents.get(name)
    )
    others = f" and {len(names) - _NAMED_FILES} more" if len(names) > _NAMED_FILES else ""
    raise OtherCode(
        f"A worker on {reply.host} has other code in {reply.root} than this process was started "
        f"with: {', '.join(names[:_NAMED_FILES])}{others}. It computed nothing. Install the same "
        "version and requirements on every machine; after an edit, reload definitions in Dagster. "
        "Then run again; what was finished is kept."
    )


def build_death(arguments: tuple[Any, ...]) -> WorkerDied:
    """Build the error that names an item by its arguments."""
    item = shorten(", ".join(map(repr, arguments)), 200)
    return WorkerDied(
        f"The system ended {ATTEMPTS} worker processes at {item}, most often because memory "
        "ran out. What was finished is kept: close other programs, or draw fewer or smaller "
        "sizes at once, and run again; only what is missing is made."
    )


def _perform(work: Work, arguments: tuple[Any, ...]) -> Outcome:
    try:
        return None, work(*arguments)
    except Exception as error:  # noqa: BLE001 - raised where the result is awaited
        error.add_note(format_exc())
        return error, None


@cache
def fingerprint_code(*modules: str) -> str:
    """Digest modules, all that they import of the project, and this protocol, as loaded here."""
    return read_code_versions().digest([*modules, __name__])
