"""Images by content: a PNG's name is the sha256 of its bytes."""

import re
import struct
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from dagster import ConfigurableResource
from upath import UPath

from resources.faults import AccessDenied, CorruptItem, MissingItem, PathOutsideStore, write_errors
from resources.storage.atomic_writes import (
    is_remote,
    remote_errors,
    write_atomically,
    write_if_absent,
)
from resources.storage.disk_reserve import DiskReserve

_AT_ONCE = 32
"""Images looked up at once: in an object store, each takes a request."""
_HEAD = struct.Struct(">16s2I")
"""The beginning of a PNG: signature and kind of chunk, then width and height."""
_NAME = re.compile(r"[0-9a-f]{64}")


class ImageStore(ConfigurableResource[None]):
    """PNG files at `<root>/images/<first two digits>/<sha256>.png`.

    `root` is a folder, or any address that fsspec knows (`s3://bucket/folder`, `gs://…`).
    """

    root: str

    def path(self, digest: str) -> UPath:
        """The path of the image with that sha256.

        Raises `PathOutsideStore` for another kind of name.
        """
        if not _NAME.fullmatch(digest):
            raise PathOutsideStore(
                f"{digest!r} is not an image of {self.root}: an image is named by the 64 "
                "hexadecimal digits of its sha256. Materialize the table that names it again."
            )
        return UPath(self.root) / "images" / digest[:2] / f"{digest}.png"

    def put(self, png: bytes) -> str:
        """Keep an image and give its sha256; one that is there already is not written again."""
        digest = sha256(png).hexdigest()
        try:
            self.get(digest)
        except MissingItem:
            write_if_absent(self.path(digest), png)
        except CorruptItem:
            write_atomically(self.path(digest), png)
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
            write_if_absent(probe, b"")
            with write_errors(probe), remote_errors(probe):
                probe.unlink()
            return DiskReserve(None, 0)
        reserve = DiskReserve(Path(folder.path), size)
        reserve.hold()
        return reserve

    def get(self, digest: str) -> bytes:
        """The bytes of an image, checked against their sha256.

        Raises `MissingItem` or `CorruptItem`.
        """
        path = self.path(digest)
        try:
            with remote_errors(path):
                png = path.fs.cat_file(path.path) if is_remote(path) else path.read_bytes()
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
        if sha256(png).hexdigest() != digest:
            raise CorruptItem(
                f"The image {path} is not what was written there. Materialize the images of its "
                "topic again: what is damaged is drawn again, the rest is kept."
            )
        return png

    def holds(self, digest: str) -> bool:
        """True where the image is there and whole."""
        try:
            self.get(digest)
        except (MissingItem, CorruptItem):
            return False
        return True

    def find_missing(self, digests: Collection[str]) -> set[str]:
        """Find the images that are not there; existing ones may still be damaged."""
        paths = {digest: self.path(digest) for digest in digests}
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            presence = threads.map(_is_there, paths.values())
            return {
                digest for digest, is_there in zip(paths, presence, strict=True) if not is_there
            }

    def sizes(self, digests: Collection[str]) -> dict[str, tuple[int, int]]:
        """Read width and height in px of the existing images from their first bytes."""
        paths = {digest: self.path(digest) for digest in digests}
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            sizes = zip(paths, threads.map(_read_size, paths.values()), strict=True)
            return {digest: size for digest, size in sizes if size is not None}


def _read_size(path: UPath) -> tuple[int, int] | None:
    try:
        with remote_errors(path):
            if is_remote(path):
                head = path.fs.cat_file(path.path, start=0, end=_HEAD.size)
            else:
                with path.open("rb") as file:
                    head = file.read(_HEAD.size)
    except OSError:
        # The sender of the image reports the error.
        return None
    if len(head) < _HEAD.size:
        return None
    _, width, height = _HEAD.unpack(head)
    return (width, height) if width and height else None


def _is_there(path: UPath) -> bool:
    with remote_errors(path):
        return path.exists()
