"""Files below an address: a folder of this machine, or a place in an object store.

Where it is an object store, what another process wrote is seen at once, and a store that is away
for a minute is waited for: all functions raise `UnreachableStore` after that, and `AccessDenied`
where the credentials may not read.
"""

import errno
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory, gettempdir
from typing import IO, Any, TypeVar

from upath import UPath

from resources.faults import AccessDenied, StoreBusy, UnwritableStore, write_errors
from resources.storage.atomic_writes import (
    FilePath,
    is_remote,
    reach,
    to_local_path,
    write_atomically,
    write_unchanged,
)

Answer = TypeVar("Answer")

_TRIES = 50
_FETCHED = "fetched"
"""The folder of fetched copies, below this user's temporary one."""
_TAGS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "updated", "created")


def open_address(address: str) -> UPath:
    """Return the path of an address; listings of an object store are never remembered."""
    path = UPath(address)
    return UPath(address, use_listings_cache=False) if is_remote(path) else path


def resolve_path(root: FilePath, name: str) -> FilePath:
    """Resolve the path of a user's file: a relative one starts at `root`.

    One that starts at / is a file of this machine, wherever `root` is.
    """
    if not is_remote(root):
        return Path(to_local_path(root), name)
    if Path(name).is_absolute():
        return Path(name)
    path = root.joinpath(*Path(name).parts)
    return path.resolve() if ".." in path.parts else path


def find_local_folder(root: FilePath) -> Path:
    """Find the folder of this machine for what belongs to a data root and may be lost.

    It is a local data root itself; of an object store, one below the system's temporary folder
    (TMPDIR), which is made here.
    """
    if not is_remote(root):
        return to_local_path(root)
    folder = _find_temporary_folder() / "local" / sha256(str(root).encode()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def list_folder(folder: UPath) -> list[UPath]:
    """List what lies in a folder itself, in order: hidden files as well.

    There is nothing where there is no folder.
    """
    if not is_remote(folder):
        return sorted(folder.iterdir()) if folder.is_dir() else []
    try:
        names = _ask(folder, lambda: folder.fs.ls(folder.path, detail=False, refresh=True))
    except FileNotFoundError:
        return []
    marker = folder.path.rstrip("/")
    paths = {name.rstrip("/") for name in names} - {marker}  # A folder may have an object.
    return [folder / path.rpartition("/")[2] for path in sorted(paths)]


def list_files(folder: UPath) -> list[UPath]:
    """List the files at any depth below a folder, in order; hidden ones, and theirs, are left out.

    There are none where there is no folder.
    """
    if not is_remote(folder):
        return sorted(
            path
            for path in folder.rglob("*")
            if not path.is_dir() and not any(part.startswith(".") for part in _parts(path, folder))
        )
    names = [name.partition(folder.path.rstrip("/") + "/")[2] for name in find_objects(folder)]
    visible = (name for name in sorted(names) if name and "/." not in f"/{name}")
    return [folder.joinpath(name) for name in visible]


def find_objects(folder: UPath) -> list[str]:
    """Find the names of all objects below a folder of an object store, in full, by listing it."""
    return list(find_infos(folder))


def find_infos(folder: UPath) -> dict[str, dict[str, Any]]:
    """Find what the file system tells of the files below a folder, by their names in full."""
    try:
        folder.fs.invalidate_cache(folder.path)
        return dict(_ask(folder, lambda: folder.fs.find(folder.path, detail=True)))
    finally:
        folder.fs.invalidate_cache(folder.path)


def make_folder(folder: UPath) -> None:
    """Make a folder, unless it exists; an object store has none."""
    if not is_remote(folder):
        folder.mkdir(parents=True, exist_ok=True)


def read_file(path: FilePath) -> bytes:
    """Read a file whole, by one request; raises FileNotFoundError."""
    if not is_remote(path):
        return path.read_bytes()
    try:
        # From the start on, since a store is asked for the size of a whole object first.
        return _ask(path, lambda: bytes(path.fs.cat_file(path.path, start=0)))
    except OSError as error:
        if error.errno == errno.EINVAL:
            return b""  # An empty object has no first byte.
        raise


def open_file(path: FilePath) -> io.BytesIO | io.BufferedReader:
    """Open a file to read it; one of an object store is taken whole, by one request.

    Raises FileNotFoundError.
    """
    return io.BytesIO(read_file(path)) if is_remote(path) else to_local_path(path).open("rb")


@contextmanager
def open_copy(path: FilePath) -> Iterator[IO[bytes]]:
    """A file to read at any place, however large: one of an object store is copied for that.

    The copy on this machine goes with the block. Raises FileNotFoundError.
    """
    if not is_remote(path):
        with to_local_path(path).open("rb") as file:
            yield file
        return
    with NamedTemporaryFile() as copy:
        _ask(path, lambda: path.fs.get_file(path.path, copy.name))
        yield copy


def find_size(path: FilePath) -> int:
    """Find the length of a file in bytes; raises FileNotFoundError."""
    if is_remote(path):
        return int(_ask(path, lambda: path.fs.size(path.path)))
    return path.stat().st_size


def find_tag(path: UPath) -> str | None:
    """Find what changes with the content of an object in a store; None where there is no object."""
    try:
        return _find_tag(_ask(path, lambda: path.fs.info(path.path)))
    except FileNotFoundError:
        return None


def update_file(path: FilePath, change: Callable[[bytes | None], bytes | None]) -> None:
    """Write what `change` makes of a file's content, or nothing where it makes None.

    The content is None where there is no file. In an object store `change` is called again with the
    new content where another process has written meanwhile, so that nothing of either is lost; this
    needs the conditional writes of S3 (`If-Match`), and of other stores the last writer wins.
    """
    for _ in range(_TRIES):
        tag = find_tag(path) if is_remote(path) else None
        try:
            content = read_file(path)
        except FileNotFoundError:
            content = None
        data = change(content)
        if data is None:
            return
        if not is_remote(path):
            write_atomically(path, data)
            return
        if write_unchanged(path, data, tag):
            return
    raise StoreBusy(f"{path} was changed by others each time that it was written. Try again.")


def is_stored(path: FilePath) -> bool:
    """Return whether there is a file, or a link, of that name."""
    if is_remote(path):
        return bool(_ask(path, lambda: path.fs.isfile(path.path)))
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
        modified: datetime = _ask(path, lambda: path.fs.modified(path.path))
        return modified.astimezone(UTC)
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def fetch(path: FilePath) -> Path:
    """Return a local copy of a file or folder, as it is now; a local one is its own copy.

    What has not changed is not fetched again. Raises FileNotFoundError.
    """
    if not is_remote(path):
        return to_local_path(path)
    infos = find_infos(path)
    if not infos:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    states = sorted((name, info["size"], _find_tag(info)) for name, info in infos.items())
    version = sha256(repr((str(path), states)).encode()).hexdigest()
    target = _find_temporary_folder() / _FETCHED / version
    try:
        os.utime(target)  # Its time is that of its last use.
    except FileNotFoundError:
        with scratch_folder(UPath(target.parent)) as scratch:
            for name in infos:
                relative = name.removeprefix(path.path).lstrip("/")
                file = scratch.joinpath(version, path.name, relative)
                file.parent.mkdir(parents=True, exist_ok=True)
                _ask(path, partial(path.fs.get_file, name, str(file)))
            try:
                (scratch / version).rename(target)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise  # Otherwise another process has fetched the same.
    return target / path.name


def list_fetched() -> list[Path]:
    """List the copies on this machine, also begun ones; their time is that of their last use."""
    return [*(_find_temporary_folder() / _FETCHED).glob("*")]


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


def _find_temporary_folder() -> Path:
    """Find the folder of this user below the system's temporary one; nobody else may look in."""
    folder = Path(gettempdir(), f"counterfactory-{os.getuid()}")
    with write_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.getuid():
        raise UnwritableStore(f"{folder} is another user's. Set TMPDIR to a folder of your own.")
    return folder


def _ask(path: UPath, request: Callable[[], Answer]) -> Answer:
    """Send a request to read from an object store."""
    try:
        return reach(path, request)
    except PermissionError as error:
        raise AccessDenied(
            f"{path} may not be read ({error}). Renew credentials that have expired, or give these "
            "the right to read and list what lies there, and run again: what was finished is kept."
        ) from None


def _parts(path: UPath, folder: UPath) -> Sequence[str]:
    return path.relative_to(folder).parts
