"""A site on a disk: built whole beside the one before, then moved to its place."""

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from uuid import uuid4

_ABANDONED_S = 3600.0


class LocalSite:
    """The folder of a site on a disk."""

    def __init__(self, folder: Path) -> None:
        self.name, self._folder = folder.name, folder

    @contextmanager
    def build(self) -> Iterator[Path]:
        """Give a folder beside this one."""
        _sweep(self._folder)
        build = self._folder.with_name(f".{self._folder.name}.{uuid4().hex}")
        build.mkdir(parents=True)
        try:
            yield build
        finally:
            shutil.rmtree(build, ignore_errors=True)

    def take_over(self, build: Path, picture: str, is_sound: Callable[[bytes], bool]) -> bool:
        """Give a picture of the old site a second name in the new one, if it is still sound."""
        old = self._folder / picture
        try:
            if not is_sound(old.read_bytes()):
                return False
            os.link(old, build / picture)
        except OSError:  # not there, or a file system without hard links
            return False
        return True

    def put_in_place(self, build: Path) -> None:
        """Move `build` here, what stands here aside; of two builds at once the later stays."""
        old = build.with_name(f"{build.name}.old")
        while True:
            try:
                build.rename(self._folder)
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            shutil.rmtree(old, ignore_errors=True)
            with suppress(FileNotFoundError):
                self._folder.rename(old)
        shutil.rmtree(old, ignore_errors=True)

    def read(self, file: str) -> bytes:
        """Read a file of the site."""
        return (self._folder / file).read_bytes()


def _sweep(folder: Path) -> None:
    """Remove what killed builds left beside `folder`, but nothing that may still be built."""
    for abandoned in folder.parent.glob(f".{escape(folder.name)}.{'[0-9a-f]' * 32}*"):
        with suppress(FileNotFoundError):
            if time.time() - abandoned.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(abandoned, ignore_errors=True)
