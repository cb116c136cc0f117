"""Folders that are written beside their place, and renamed once they are whole."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from resources.faults import DiskFull, StoreError, UnwritableStore

_HASH = "[0-9a-f]" * 32


def require_empty(folder: Path) -> None:
    """Raise `ValueError` for a folder that has files, or a file in its place."""
    if folder.exists() and not (folder.is_dir() and next(folder.iterdir(), None) is None):
        raise ValueError(
            f"{folder}: it is not an empty folder. Name a new one, or remove what is there."
        )


@contextmanager
def write_beside(folder: Path, *, replace: bool) -> Iterator[Path]:
    """A folder to write to, which gets its name once the block ends without an error.

    `folder` is new or empty, or is replaced. What killed processes have left of it is removed.
    Raises `DiskFull` and `UnwritableStore`.
    """
    scratch = folder.with_name(f".{folder.name}.{uuid4().hex}")
    replaced = folder.with_name(f"{scratch.name}.old")
    with _translate_errors(folder):
        if folder.is_mount():
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(folder)
        scratch.mkdir()
        # The lock tells other processes that this one lives.
        with _lock(scratch):
            try:
                yield scratch
                _flush(scratch)
                if replace and folder.exists():
                    folder.rename(replaced)
                scratch.rename(folder)
            except BaseException:
                shutil.rmtree(scratch, ignore_errors=True)
                raise
        shutil.rmtree(replaced, ignore_errors=True)


def _flush(folder: Path) -> None:
    """Have the disk write all files below a folder, so that none is lost once it has its name."""
    for path in folder.rglob("*"):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _remove_leftovers(folder: Path) -> None:
    for path in folder.parent.glob(f".{folder.name}.{_HASH}*"):
        with suppress(BlockingIOError), _lock(path, fcntl.LOCK_NB):
            shutil.rmtree(path)


@contextmanager
def _lock(folder: Path, mode: int = 0) -> Iterator[None]:
    number = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | mode)
        yield
    finally:
        os.close(number)


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, StoreError) as error:
        cause = error.__cause__ if isinstance(error, StoreError) else error
        if isinstance(error, DiskFull) or _is_full(cause):
            raise DiskFull(
                f"{folder}: no space is left for the release, and nothing of it was kept. Free "
                "some, or name a folder on a larger disk."
            ) from error
        if isinstance(error, StoreError):
            raise
        if error.errno == errno.EBUSY:
            raise UnwritableStore(
                f"{folder} is the root of a mount, which a release cannot replace, and nothing of "
                "it was kept. Name a folder in it."
            ) from error
        if error.errno == errno.ENOTEMPTY:
            raise UnwritableStore(
                f"{folder} was filled meanwhile by somebody else, and nothing of this release was "
                "kept. Name another folder, or remove what is there."
            ) from error
        raise UnwritableStore(
            f"{folder} cannot be written ({error.strerror or error}), and nothing of the release "
            "was kept. Name a folder that you may write to."
        ) from error


def _is_full(error: BaseException | None) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
