"""Front pages on a disk, beside the folders of the sites that they lead to."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from upath import UPath

from resources.sites.local_site import LocalSite
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import read_file

MARK = "mark.svg"
"""A picture beside the front page: pages of sites lead there once they have seen it."""
_INDEX = "index.html"


class LocalFront:
    """The folder in which sites lie, on a disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_sites(self) -> list[LocalSite]:
        """List the sites in order of their names."""
        return [LocalSite(file.parent) for file in sorted(self._folder.glob(f"[!.]*/{_INDEX}"))]

    def write(self, files: Mapping[str, bytes], folders: Sequence[str]) -> None:
        """Write what is not so already: of the pages of many judges, most stay as they are.

        Hidden files stay: another run is writing them.
        """
        for name, data in files.items():
            write_changed(UPath(self._folder / name), data)
        for old in (file for name in folders for file in (self._folder / name).glob("[!.]*")):
            if str(old.relative_to(self._folder)) not in files:
                old.unlink(missing_ok=True)


def write_changed(path: UPath, data: bytes) -> None:
    """Write a file that is not so already."""
    with suppress(FileNotFoundError):
        if read_file(path) == data:
            return
    write_atomically(path, data)
