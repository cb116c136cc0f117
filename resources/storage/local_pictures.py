"""Copies on this machine of pictures in an object store: a picture's name is its content's hash."""

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

MAX_BYTES = 4_000_000_000
"""Space for copies; the oldest go first."""
_SHARE = 8
"""Space is looked at after a write of this part of it."""


class LocalPictures:
    """Pictures in a folder of this machine; a copy that is lost or damaged is no copy."""

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self._folder, self._max_bytes = folder, max_bytes
        self._new_bytes = 0

    def find(self, digest: str) -> bytes | None:
        """Find the picture of that sha256."""
        with suppress(OSError):
            png = self._path(digest).read_bytes()
            if sha256(png).hexdigest() == digest:
                return png
        return None

    def keep(self, digest: str, png: bytes) -> None:
        """Keep a picture, unless it cannot be written here."""
        path = self._path(digest)
        temporary = path.with_name(f".{path.name}.{uuid4().hex}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(png)
            temporary.rename(path)
            self._new_bytes += len(png)
            if self._new_bytes * _SHARE > self._max_bytes:
                self._new_bytes = 0
                self._remove_oldest()

    def _remove_oldest(self) -> None:
        copies = sorted(self._list_copies(), reverse=True)
        total = 0
        for _, size, path in copies:
            total += size
            if total > self._max_bytes:
                path.unlink(missing_ok=True)

    def _list_copies(self) -> Iterator[tuple[float, int, Path]]:
        """List time of writing, bytes and path, also of what a killed process left."""
        for path in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):
                status = path.stat()
                yield status.st_mtime, status.st_size, path

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest
