"""Images by content: a PNG's name is the sha256 of its bytes."""

import errno
import re
import struct
from collections import defaultdict
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from dagster import ConfigurableResource
from pydantic import PrivateAttr
from upath import UPath

from resources.faults import AccessDenied, CorruptItem, MissingItem, PathOutsideStore, write_errors
from resources.storage.atomic_writes import (
    create_remotely,
    is_remote,
    reach,
    write_atomically,
)
from resources.storage.disk_reserve import DiskReserve
from resources.storage.files import find_local_folder, find_objects
from resources.storage.local_pictures import LocalPictures

_BATCH_SIZE = 32
"""Images, or folders of them, looked up at once: in an object store, each takes a request."""
_WORTH_A_LIST = 3
"""Images of one folder that take as many requests as a list of it may: a list has pages."""
_HEAD = struct.Struct(">16s2I")
"""The beginning of a PNG: signature and kind of chunk, then width and height."""
_NAME = re.compile(r"[0-9a-f]{64}")


class ImageStore(ConfigurableResource[None]):
    """PNG files at `<root>/images/<first two digits>/<sha256>.png`.

    `root` is a folder, or any address that fsspec knows (`s3://bucket/folder`, `gs://…`). What is
    read of an address, or written there, is read again from a copy on this machine.
    """

    root: str
    _copies: LocalPictures | None = PrivateAttr(default=None)

    def path(self, digest: str) -> UPath:
        """The path of the image with that sha256.

        Raises `PathOutsideStore` for another kind of name.
        """
        if not _NAME.fullmatch(digest):
            raise PathOutsideStore(
                f"{digest!r} is not an image of {self.root}: an image is named by the 64 "
                "hexadecimal digits of its sha256. Materialize the table that names it again."
            )
        return UPath(self.root, "images", digest[:2], f"{digest}.png")

    def put(self, png: bytes) -> str:
        """Keep an image and give its sha256; one that is there already is not written again."""
        digest = sha256(png).hexdigest()
        path = self.path(digest)
        is_new = is_remote(path) and create_remotely(path, png)
        if not is_new and not self.holds(digest):
            write_atomically(path, png)
        if is_remote(path):
            self._find_copies().keep(digest, png)
        return digest

    def reserve(self, size: int) -> DiskReserve:
        """Reserve bytes for pictures that will be paid for.

        Raises `UnwritableStore` or `UnreachableStore` where no picture could be kept, and
        `DiskFull` where a disk has less. An object store is asked to take an empty object, which is
        removed.
        """
        folder = UPath(self.root) / "images"
        if is_remote(folder):
            probe = folder / f".probe.{uuid4().hex}"
            create_remotely(probe, b"")
            with write_errors(probe):
                reach(probe, lambda: probe.fs.rm_file(probe.path))
            return DiskReserve(None, 0)
        reserve = DiskReserve(Path(folder.path), size)
        reserve.hold()
        return reserve

    def get(self, digest: str) -> bytes:
        """The bytes of an image, checked against their sha256; of an address, maybe of a copy.

        Raises `MissingItem`, `CorruptItem` or `AccessDenied`.
        """
        path = self.path(digest)
        if not is_remote(path):
            return _read_intact(path, digest)
        png = self._find_copies().find(digest)
        if png is None:
            png = _read_intact(path, digest)
            self._find_copies().keep(digest, png)
        return png

    def holds(self, digest: str) -> bool:
        """True where the image is there and whole."""
        try:
            _read_intact(self.path(digest), digest)
        except (MissingItem, CorruptItem):
            return False
        return True

    def find_damaged(self, digests: Collection[str]) -> set[str]:
        """Find the images that are not there, or not whole."""
        with ThreadPoolExecutor(_BATCH_SIZE) as threads:
            is_intact = zip(digests, threads.map(self.holds, digests), strict=True)
            return {digest for digest, is_whole in is_intact if not is_whole}

    def require_intact(self, digests: Collection[str]) -> None:
        """Read images as they are stored; raises `MissingItem`, `CorruptItem` or `AccessDenied`."""
        with ThreadPoolExecutor(_BATCH_SIZE) as threads:
            for _ in threads.map(lambda digest: _read_intact(self.path(digest), digest), digests):
                pass

    def find_missing(self, digests: Collection[str]) -> set[str]:
        """Find the images that are not there; existing ones may still be damaged."""
        folders = defaultdict[UPath, list[UPath]](list)
        for digest in digests:
            path = self.path(digest)
            folders[path.parent].append(path)
        with ThreadPoolExecutor(_BATCH_SIZE) as threads:
            missing = threads.map(_find_missing, folders, folders.values())
            return {path.stem for paths in missing for path in paths}

    def sizes(self, digests: Collection[str]) -> dict[str, tuple[int, int]]:
        """Read width and height in px of the existing images from their first bytes."""
        with ThreadPoolExecutor(_BATCH_SIZE) as threads:
            sizes = zip(digests, threads.map(self._read_size, digests), strict=True)
            return {digest: size for digest, size in sizes if size is not None}

    def file_sizes(self, digests: Collection[str]) -> dict[str, int]:
        """Look up the bytes of the files of existing images; nothing of them is read."""
        with ThreadPoolExecutor(_BATCH_SIZE) as threads:
            paths = [self.path(digest) for digest in digests]
            sizes = zip(digests, threads.map(_find_file_size, paths), strict=True)
            return {digest: size for digest, size in sizes if size is not None}

    def _read_size(self, digest: str) -> tuple[int, int] | None:
        path = self.path(digest)
        png = self._find_copies().find(digest) if is_remote(path) else None
        return _read_size(path) if png is None else _parse_size(png)

    def _find_copies(self) -> LocalPictures:
        if self._copies is None:
            self._copies = LocalPictures(find_local_folder(UPath(self.root)) / "images")
        return self._copies


def _read_intact(path: UPath, digest: str) -> bytes:
    png = _read(path)
    if sha256(png).hexdigest() != digest:
        raise CorruptItem(
            f"The image {path} is not what was written there. Materialize the images of its "
            "topic again: what is damaged is drawn again, the rest is kept."
        )
    return png


def _read(path: UPath, size: int | None = None) -> bytes:
    """Read an image, or its first bytes, by one request."""
    try:
        if is_remote(path):
            # From the start on, since a store is asked for the size of a whole object first.
            return reach(path, lambda: bytes(path.fs.cat_file(path.path, start=0, end=size)))
        with path.open("rb") as file:
            return bytes(file.read(-1 if size is None else size))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingItem(
            f"The image {path} is gone. Materialize again what made it: what is missing is "
            "drawn again, the rest is kept; for pictures by a model the run says what to do."
        ) from error
    except PermissionError as error:
        raise AccessDenied(
            f"The image {path} may not be read ({error}). Give this user, or these "
            "credentials, the right to read it."
        ) from error
    except OSError as error:
        if is_remote(path) and error.errno == errno.EINVAL:
            return b""  # An empty object has no first byte.
        raise


def _find_missing(folder: UPath, paths: Sequence[UPath]) -> list[UPath]:
    """Find the files that are not in their folder: many are looked up by a list of all."""
    if is_remote(folder) and len(paths) > _WORTH_A_LIST:
        with suppress(PermissionError):
            names = {name.rpartition("/")[2] for name in find_objects(folder)}
            return [path for path in paths if path.name not in names]
    return [path for path in paths if not _is_there(path)]


def _read_size(path: UPath) -> tuple[int, int] | None:
    try:
        head = _read(path, _HEAD.size)
    except (OSError, MissingItem, AccessDenied):
        # The sender of the image reports the error.
        return None
    return _parse_size(head)


def _find_file_size(path: UPath) -> int | None:
    with suppress(OSError, AccessDenied):
        # The sender of the image reports the error.
        return int(reach(path, path.stat).st_size if is_remote(path) else path.stat().st_size)
    return None


def _parse_size(png: bytes) -> tuple[int, int] | None:
    if len(png) < _HEAD.size:
        return None
    _, width, height = _HEAD.unpack_from(png)
    return (width, height) if width and height else None


def _is_there(path: UPath) -> bool:
    if not is_remote(path):
        return path.exists()
    try:
        _read(path, 1)
    except MissingItem:
        return False
    return True
