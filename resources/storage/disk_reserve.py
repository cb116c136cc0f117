"""Disk space reserved for answers and pictures that are being paid for."""

import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from resources.faults import write_errors


class DiskReserve:
    """Bytes held in a folder, by a file without a name: the system frees them after a kill.

    Without a folder there is nothing to hold.
    """

    def __init__(self, folder: Path | None, size: int) -> None:
        self._folder, self._size = folder, size
        self._file: IO[bytes] | None = None

    def hold(self) -> None:
        """Allocate the space, unless it is held; raises `DiskFull` or `UnwritableStore`."""
        if self._file is not None or self._folder is None:
            return
        with write_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            file = TemporaryFile(dir=self._folder)  # noqa: SIM115 - it is open as long as it is held
            try:
                os.posix_fallocate(file.fileno(), 0, self._size)
            except BaseException:
                file.close()
                raise
        self._file = file

    def release(self) -> None:
        """Free the space for the next write."""
        if self._file is not None:
            # A process that was forked may have it open as well.
            self._file.truncate(0)
            self._file.close()
            self._file = None
