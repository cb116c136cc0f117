"""Taking over a store that an earlier version put at another path than the one it was given.

That version formatted the path into a URL, where `%41` stands for a letter and `?` ends the path:
the store of `/data/a?b` lay at `/data/a`.
"""

import fcntl
import filecmp
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from dagster import get_dagster_logger
from sqlalchemy import make_url

from resources.atomic_writes import whole_file
from resources.faults import Busy, Unusable

_BESIDE_ANOTHER = "work.sqlite"
"""A file that is always at the right place in a data root, by which the root is known."""


def adopt(path: Path) -> None:
    """Move the store that belongs at `path` there, where it lies at the path of the wrong URL.

    Raises `Busy` while another process has it open, and `Unusable` where there are two stores, or
    where it may be another data root's: then nothing is changed.
    """
    wrong = Path(make_url(f"sqlite:///{path}").database or path)
    if wrong == path or not wrong.is_file():
        return
    with _alone(path):
        if not _holds_calls(wrong):
            return
        if wrong.name == path.name and wrong.with_name(_BESIDE_ANOTHER).exists():
            _leave_to_another(wrong, path)
            return
        _close(wrong)
        if path.exists() and not filecmp.cmp(wrong, path, shallow=False):
            raise Unusable(
                f"There are two stores of answers that were paid for: {path}, and {wrong}, where "
                "an earlier version kept it. Nothing was changed. Keep the one with more answers: "
                f"move the other to another folder, and make sure that the one you keep is {path}."
            )
        if not path.exists():
            _place(wrong, path)
        wrong.unlink()
        get_dagster_logger().info("%s was moved to %s, where it belongs.", wrong, path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """While no other process is in here; the system lets go for one that is killed."""
    with path.with_name(f"{path.stem}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _holds_calls(path: Path) -> bool:
    if not path.exists():  # Somebody else has moved it meanwhile.
        return False
    try:
        with closing(_opened(path)) as connection:
            connection.execute("SELECT key, request, answer FROM calls LIMIT 0")
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error) or "no such" in str(error):
            return False
        raise _busy(path, error) from error
    return True


def _leave_to_another(wrong: Path, path: Path) -> None:
    if path.exists():
        return
    raise Unusable(
        f"{path} is not there, and {wrong}, where an earlier version kept the answers of both data "
        f"roots, lies beside the files of {wrong.parent}. Nothing was changed. To have its answers "
        f"here as well, run `sqlite3 '{wrong}' \".backup '{path}'\"`; to start with none, set "
        "COUNTERFACTORY_CALLS to the URL of another file."
    )


def _close(path: Path) -> None:
    """Have all of a database in its one file; raises `Busy` where others have it open."""
    try:
        with closing(_opened(path)) as connection:
            # Nobody else may read it then, and its log goes when it is closed.
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        raise _busy(path, error) from error


def _busy(path: Path, error: sqlite3.DatabaseError) -> Busy:
    return Busy(
        f"{path} holds answers that were paid for and is to be moved to the data root that it "
        f"belongs to, but it cannot be opened alone ({error}). End what uses it, such as Dagster "
        "with an earlier version."
    )


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=0, isolation_level=None)


def _place(wrong: Path, path: Path) -> None:
    """Give it its name whole, on another file system as well."""
    with suppress(OSError):
        os.link(wrong, path)
        return
    with wrong.open("rb") as source, whole_file(path) as file:
        shutil.copyfileobj(source, file)
