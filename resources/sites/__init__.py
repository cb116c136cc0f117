"""Sites: folders of pages and pictures, of which each state replaces the one before as a whole.

A site is built in a local folder and put in its place: on a disk by renaming the folder, in an
object store behind an entry page that is written last.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from resources.sites.local_front import MARK, LocalFront
from resources.sites.local_site import LocalSite
from resources.sites.remote_front import RemoteFront
from resources.sites.remote_site import RemoteSite
from resources.storage.atomic_writes import FilePath, is_remote, to_local_path

__all__ = ["MARK", "FrontFolder", "PublishedSite", "SiteFolder", "open_front", "open_site"]


class SiteFolder(Protocol):
    """The folder of a site."""

    def build(self) -> AbstractContextManager[Path]:
        """Give an empty local folder for the next state, which is removed in the end."""
        ...

    def take_over(self, build: Path, picture: str, is_sound: Callable[[bytes], bool]) -> bool:
        """Use a picture of an earlier state in the next one; False where there is none.

        It is named by its path in the site. Of one on a disk, `is_sound` tells whether its bytes
        are what they were.
        """
        ...

    def put_in_place(self, build: Path) -> None:
        """Replace the state that is published by the one in `build`.

        Of two at once, the later stays. Raises `UnwritableStore`.
        """
        ...


class PublishedSite(Protocol):
    """The published state of a site."""

    @property
    def name(self) -> str:
        """The name of the site, which is that of its folder."""
        ...

    def read(self, file: str) -> bytes:
        """Read a file by its path in the site; raises FileNotFoundError."""
        ...


class FrontFolder(Protocol):
    """The folder in which sites lie, and the pages that lead to them."""

    def list_sites(self) -> Sequence[PublishedSite]:
        """List the sites in order of their names."""
        ...

    def write(self, files: Mapping[str, bytes], folders: Sequence[str]) -> None:
        """Write the front pages, by path; nothing else remains in their `folders`."""
        ...


def open_site(folder: FilePath) -> SiteFolder:
    """Open the folder of a site, wherever it lies."""
    return RemoteSite(folder) if is_remote(folder) else LocalSite(to_local_path(folder))


def open_front(folder: FilePath) -> FrontFolder:
    """Open the folder in which sites lie, wherever it lies."""
    return RemoteFront(folder) if is_remote(folder) else LocalFront(to_local_path(folder))
