"""Atomic writes of files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from upath import UPath

from resources.faults import StoreError, UnreachableStore, write_errors


def write_atomically(path: UPath, data: bytes) -> None:
    """Write `data` to `path`: a reader sees the old file or the new one, never a part.

    On a disk it gets a temporary name, is flushed and renamed into place; in an object store one
    request puts it there whole, since a rename would be a copy. Raises `UnwritableStore` or
    `DiskFull`.
    """
    with write_errors(path):
        if is_remote(path):
            with remote_errors(path):
                path.write_bytes(data)
            return
        with open_atomically(Path(path.path)) as file:
            file.write(data)


@contextmanager
def open_atomically(path: Path) -> Iterator[IO[bytes]]:
    """A file on a disk to write to, which gets its name once the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_if_absent(path: UPath, data: bytes) -> None:
    """Write a file that is never changed, as `write_atomically` does; an existing one stays.

    An object store is asked to refuse a second one (`If-None-Match`).
    """
    if not is_remote(path):
        write_atomically(path, data)
        return
    with write_errors(path), remote_errors(path), suppress(FileExistsError):
        path.fs.pipe_file(path.path, data, mode="create")


def is_remote(path: UPath) -> bool:
    """True where `path` lies in an object store rather than on a disk."""
    return path.protocol not in ("", "file")


@contextmanager
def remote_errors(path: UPath) -> Iterator[None]:
    """Raise `UnreachableStore` for any library's error that says that a store does not answer."""
    try:
        yield
    except (OSError, StoreError):
        raise
    except Exception as error:  # noqa: BLE001 - each store's library has errors of its own
        raise UnreachableStore(
            f"{path} cannot be reached ({error}). Check the address in COUNTERFACTORY_IMAGES, its "
            "credentials and the network, then materialize again: what was finished is kept."
        ) from None
