"""Files below an address: a folder of this machine, or a place in an object store.

Where it is an object store, what another process wrote is seen at once, and a store that is away
for a minute is waited for: all functions raise `UnreachableStore` after that.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from upath import UPath

from resources.storage.atomic_writes import is_remote, reach

_TAGS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "updated", "created")


def open_address(address: str) -> UPath:
    """Return the path of an address; listings of an object store are never remembered."""
    path = UPath(address)
    return UPath(address, use_listings_cache=False) if is_remote(path) else path


def list_files(folder: UPath) -> list[UPath]:
    """List the files at any depth below a folder, in order; hidden ones, and theirs, are left out.

    There are none where there is no folder.
    """
    if not is_remote(folder):
        return sorted(
            path
            for path in folder.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in _parts(path, folder))
        )
    names = [name.partition(folder.path.rstrip("/") + "/")[2] for name in find_objects(folder)]
    visible = (name for name in sorted(names) if name and "/." not in f"/{name}")
    return [folder.joinpath(name) for name in visible]


def find_objects(folder: UPath) -> list[str]:
    """Find the names of all objects below a folder of an object store, in full, by listing it."""
    try:
        folder.fs.invalidate_cache(folder.path)
        return list(reach(folder, lambda: folder.fs.find(folder.path)))
    finally:
        folder.fs.invalidate_cache(folder.path)


def read_file(path: UPath) -> bytes:
    """Read a file whole, by one request; raises FileNotFoundError."""
    if is_remote(path):
        return reach(path, lambda: bytes(path.fs.cat_file(path.path)))
    return path.read_bytes()


def is_stored(path: UPath) -> bool:
    """Return whether there is a file, or a link, of that name."""
    if is_remote(path):
        return bool(reach(path, lambda: path.fs.isfile(path.path)))
    return path.exists() or path.is_symlink()


def remove_file(path: UPath) -> None:
    """Remove a file, if there is one."""
    if is_remote(path):
        reach(path, lambda: path.fs.rm_file(path.path))
    else:
        path.unlink(missing_ok=True)


def find_modified_time(path: UPath) -> datetime:
    """Find when a file was written, in UTC; raises FileNotFoundError."""
    if is_remote(path):
        modified: datetime = reach(path, lambda: path.fs.modified(path.path))
        return modified.astimezone(UTC)
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def fetch(path: UPath) -> Path:
    """Return a local copy of a file or folder, as it is now; a local one is its own copy.

    What has not changed is not fetched again. Raises FileNotFoundError.
    """
    if not is_remote(path):
        return Path(path.path)
    infos: dict[str, dict[str, Any]] = reach(path, lambda: path.fs.find(path.path, detail=True))
    if not infos:
        raise FileNotFoundError(f"{path} is not there.")
    states = sorted((name, info["size"], _find_tag(info)) for name, info in infos.items())
    version = sha256(repr((str(path), states)).encode()).hexdigest()
    target = Path(gettempdir(), f"counterfactory-{os.getuid()}", "fetched", version, path.name)
    if not target.exists():
        with scratch_folder(UPath(target.parent.parent)) as scratch:
            for name in infos:
                file = scratch / path.name / name.removeprefix(path.path).lstrip("/")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(reach(path, partial(path.fs.cat_file, name)))
            with suppress(FileExistsError):  # Another process has fetched the same.
                target.parent.mkdir()
                (scratch / path.name).rename(target)
    return target


def _find_tag(info: dict[str, Any]) -> str:
    """Find the field of an object's state that changes with its content, by file system."""
    return str(next((info[name] for name in _TAGS if info.get(name)), ""))


@contextmanager
def scratch_folder(root: UPath) -> Iterator[Path]:
    """A local folder for files in the making: below a local root, else the system's; then removed.

    What is made there is on the disk of the root, so that a rename puts it into its place.
    """
    local = None if is_remote(root) else Path(root.path)
    if local is not None:
        local.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=local, prefix=".scratch.") as folder:
        yield Path(folder)


def _parts(path: UPath, folder: UPath) -> Sequence[str]:
    return path.relative_to(folder).parts
