"""Atomic writes of files."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from mimetypes import guess_type
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import monotonic, sleep
from typing import IO, TypeAlias, TypeGuard, TypeVar
from uuid import uuid4

from upath import UPath

from resources.faults import StoreError, UnreachableStore, UnusableStore, write_errors

Result = TypeVar("Result")
FilePath: TypeAlias = Path | UPath
"""A path of this machine, or one below a data root, which may be in an object store."""

PATIENCE_S, RETRY_S = 60.0, 1.0
"""Time for which an object store may be away, and the pause between tries."""
_S3 = ("s3", "s3a")
_TRANSIENT = (errno.EBUSY, errno.EIO, errno.ETIMEDOUT, getattr(errno, "EREMOTEIO", errno.EIO))


def write_atomically(path: FilePath, data: bytes) -> None:
    """Write `data` to `path`: a reader sees the old file or the new one, never a part.

    On a disk it gets a temporary name, is flushed and renamed into place; in an object store one
    request puts it there whole, since a rename would be a copy. Raises `UnwritableStore` or
    `DiskFull`.
    """
    with write_errors(path):
        if is_remote(path):
            _write_remotely(path, data)
            return
        with open_atomically(to_local_path(path)) as file:
            file.write(data)


@contextmanager
def open_to_write(path: FilePath) -> Iterator[IO[bytes]]:
    """A file to write to, which is at its path, whole, once the block ends without an error.

    For an object store it is written on this machine first.
    """
    if not is_remote(path):
        with open_atomically(to_local_path(path)) as file:
            yield file
        return
    with NamedTemporaryFile() as file:
        yield file
        file.flush()
        put_file(Path(file.name), path)


def put_file(source: Path, path: UPath) -> None:
    """Put a file of this machine into an object store, whole, however large it is."""
    reach(path, lambda: path.fs.put_file(str(source), path.path))


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


def create_remotely(path: UPath, data: bytes) -> bool:
    """Write an object by one request; False where the store refuses it, as there is one.

    Some stores only say that they refuse (EINVAL), not that it is for `If-None-Match`.
    """
    with write_errors(path):
        try:
            reach(path, lambda: path.fs.pipe_file(path.path, data, mode="create"))
        except OSError as error:
            if isinstance(error, FileExistsError) or error.errno == errno.EINVAL:
                return False
            raise
    return True


def write_unchanged(path: UPath, data: bytes, tag: str | None) -> bool:
    """Write an object whose content still has a tag, or that is new where that is None.

    Returns False where it has changed, and nothing is written. Stores other than S3 are only asked
    that it be new.
    """
    if tag is None:
        return create_remotely(path, data)

    def write() -> None:
        if path.protocol in _S3:
            path.fs.pipe_file(path.path, data, IfMatch=tag)
        else:
            path.fs.pipe_file(path.path, data)

    with write_errors(path):
        try:
            reach(path, write)
        except FileNotFoundError:
            return False  # It was removed meanwhile.
        except OSError as error:
            if error.errno == errno.EINVAL:
                return False
            raise
    return True


def _write_remotely(path: UPath, data: bytes) -> None:
    """Write an object by one request, on S3 with the type that browsers ask for."""
    kind, _ = guess_type(path.name)

    def write() -> None:
        if kind and path.protocol in _S3:
            path.fs.pipe_file(path.path, data, ContentType=kind)
        else:
            path.fs.pipe_file(path.path, data)

    reach(path, write)


def is_remote(path: FilePath) -> TypeGuard[UPath]:
    """True where `path` lies in an object store rather than on a disk."""
    return not isinstance(path, Path) and path.protocol not in ("", "file")


def to_local_path(path: FilePath) -> Path:
    """The path of a file on a disk, for what takes no other."""
    return path if isinstance(path, Path) else Path(path.path)


def reach(path: UPath, request: Callable[[], Result]) -> Result:
    """Send a request to an object store, again for a minute while it does not answer."""
    until = monotonic() + PATIENCE_S
    while True:
        try:
            with remote_errors(path):
                return request()
        except UnreachableStore:
            if monotonic() >= until:
                raise
        sleep(RETRY_S)


@contextmanager
def remote_errors(path: UPath) -> Iterator[None]:
    """Raise `UnreachableStore` for any library's error that says that a store does not answer.

    Raises `UnusableStore` where the library itself is missing.
    """
    try:
        yield
    except StoreError:
        raise
    except ImportError as error:
        remedy = (
            "s3fs is missing. Install the extra s3 (docs/install.md)"
            if path.protocol in _S3
            else f"a package is missing ({error}). Install it"
        )
        raise UnusableStore(f"{path}: {remedy}.") from None
    except Exception as error:
        if isinstance(error, OSError) and not _is_transient(error):
            raise
        raise UnreachableStore(
            f"{path} cannot be reached ({error}). Check its address (given to the command, or set "
            "by COUNTERFACTORY_HOME or COUNTERFACTORY_IMAGES), its credentials and the network, "
            "then run it again: what was finished is kept."
        ) from None


def _is_transient(error: OSError) -> bool:
    """Return whether an object store may answer later: it is busy, has a fault, or is away."""
    return isinstance(error, ConnectionError | TimeoutError) or error.errno in _TRANSIENT
