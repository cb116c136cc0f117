"""Many files below an address at once: in an object store, each takes a request."""

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from upath import UPath

from resources.faults import write_errors
from resources.storage.atomic_writes import FilePath, write_atomically
from resources.storage.files import find_infos, read_file, remove_file

PathT = TypeVar("PathT", bound=FilePath)

_AT_ONCE = 32
_TIMES = ("mtime", "LastModified", "updated", "created")
"""Fields with the time when a file was written, by file system (disk, S3, Google's, memory)."""


class FileInfo(NamedTuple):
    """A file's size in bytes, and when it was written, in seconds since 1970."""

    size: int
    modified_at: float


def list_infos(folder: UPath) -> dict[str, FileInfo]:
    """List the files at any depth below a folder, hidden ones as well, by their path from it."""
    start = folder.path.rstrip("/") + "/"
    return {
        name.partition(start)[2]: FileInfo(int(info["size"]), _find_modified_time(info))
        for name, info in find_infos(folder).items()
    }


def read_files(paths: Iterable[PathT]) -> dict[PathT, bytes]:
    """Read those of the files that exist."""

    def read(path: PathT) -> tuple[PathT, bytes] | None:
        with suppress(FileNotFoundError, NotADirectoryError):
            return path, read_file(path)
        return None

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return dict(filter(None, threads.map(read, paths)))


def write_files(files: Mapping[UPath, bytes]) -> None:
    """Write files, each whole or not at all; raises as `write_atomically`."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(write_atomically, files, files.values()))


def remove_files(paths: Iterable[UPath]) -> None:
    """Remove files, unless another process has done so; raises `UnwritableStore`."""

    def remove(path: UPath) -> None:
        with write_errors(path), suppress(FileNotFoundError):
            remove_file(path)

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(remove, paths))


def _find_modified_time(info: Mapping[str, Any]) -> float:
    """Find when a file was written; one without a date is as new as can be."""
    moment = next((info[name] for name in _TIMES if info.get(name) is not None), time.time())
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return moment.timestamp() if isinstance(moment, datetime) else float(moment)
