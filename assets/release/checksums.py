"""Checksums of a release's files."""

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO, Any

CHECKSUMS = "SHA256SUMS"
"""The file of checksums, as `sha256sum --check` reads it."""


_MAX_PENDING = 32
"""Most pieces of a file that wait to be written; pyarrow hands over a picture at a time."""


class HashedFile:
    """A new file that is hashed and written while the next piece of it is made."""

    closed = False

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("xb")
        self._sha256 = sha256()
        self._position = 0
        self._writer = ThreadPoolExecutor(1)
        self._pending = deque[Future[None]]()

    def write(self, data: Any) -> int:
        """Take bytes to write; raises the error of an earlier piece."""
        if len(self._pending) == _MAX_PENDING:
            self._pending.popleft().result()
        self._pending.append(self._writer.submit(self._append, data))
        self._position += len(data)
        return len(data)

    def _append(self, data: Any) -> None:
        self._sha256.update(data)
        self._file.write(data)

    def tell(self) -> int:
        """Position in bytes."""
        return self._position

    def flush(self) -> None:
        """Do nothing: `close` does."""

    def close(self) -> str:
        """Write the rest and close the file; return its sha256."""
        with self._file, self._writer:
            for piece in self._pending:
                piece.result()
        return self._sha256.hexdigest()


def write_checksums(folder: Path, digests: Mapping[str, str]) -> None:
    """Write the sha256 of every file below a folder; `digests` has some by their paths."""
    lines = [f"{digest}  {path}\n" for path, digest in hash_files(folder, digests).items()]
    (folder / CHECKSUMS).write_text("".join(lines))


def hash_files(folder: Path, digests: Mapping[str, str]) -> dict[str, str]:
    """The sha256 of every file below a folder but the checksums, by path; `digests` has some."""
    paths = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    return {
        path: digests.get(path) or hash_file(folder / path) for path in paths if path != CHECKSUMS
    }


def hash_file(path: Path) -> str:
    """Compute the sha256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
