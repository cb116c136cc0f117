"""A site in an object store: pictures under their hash, pages in states."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from upath import UPath

from resources.sites.page_links import map_links
from resources.sites.site_states import STATES, SiteState, replace_state
from resources.storage.chunks import split_into_chunks
from resources.storage.file_batches import list_infos, read_files, write_files
from resources.storage.files import find_objects, scratch_folder

PICTURE_FOLDERS = ("images/", "thumbs/")
PICTURES = "pictures.json"
"""The file of a state with the paths of the pictures that its pages show."""
_PICTURES_AT_ONCE = 100
_OUTSIDE = re.compile(rf"^\.\./\.\./(?:([^/]+/){STATES}/[0-9a-f]{{32}}/)?")
"""The beginning of a link from a state to its site's folder, or to the state of another one."""


class RemoteSite:
    """The folder of a site in an object store."""

    def __init__(self, folder: UPath) -> None:
        self._folder = folder
        self._stored, self._shown = set[str](), set[str]()

    @contextmanager
    def build(self) -> Iterator[Path]:
        """Give a scratch folder of this machine."""
        self._shown = set()
        self._stored = {
            folder + name.rpartition("/")[2]
            for folder in PICTURE_FOLDERS
            for name in find_objects(self._folder / folder)
        }
        with scratch_folder(self._folder) as build:
            yield build

    def take_over(self, build: Path, picture: str, is_sound: Callable[[bytes], bool]) -> bool:
        """Show a picture that is stored; it was written whole, so that its bytes are not read."""
        self._shown.add(picture)
        return picture in self._stored

    def put_in_place(self, build: Path) -> None:
        """Write the pictures that are not there, then the pages as a state of their own."""
        files = sorted(file for file in build.rglob("*") if file.is_file())
        names = {file.relative_to(build).as_posix(): file for file in files}
        new = {name for name in names if name.startswith(PICTURE_FOLDERS)}
        for chunk in split_into_chunks(sorted(new), _PICTURES_AT_ONCE):
            write_files({self._folder / name: names[name].read_bytes() for name in chunk})
        pages = {name: _place(name, file) for name, file in names.items() if name not in new}
        pages[PICTURES] = json.dumps(sorted(new | self._shown), indent=0).encode()
        replace_state(self._folder, pages)


def read_pages(state: SiteState) -> dict[str, bytes]:
    """Read the pages of a state, by path, as they lie in a site on a disk."""
    paths = {name: state.path / name for name in list_infos(state.path) if name != PICTURES}
    pages = read_files(paths.values())
    return {name: _take_out(name, pages[path]) for name, path in paths.items()}


def read_pictures(state: SiteState) -> list[str]:
    """Read the paths of the pictures that the pages of a state show."""
    pictures: list[str] = json.loads(state.read(PICTURES))
    return pictures


def _place(name: str, file: Path) -> bytes:
    """A page as it lies in a state: links to what lies elsewhere lead out of it."""
    if file.suffix != ".html":
        return file.read_bytes()
    return map_links(name, file.read_text(encoding="utf-8"), _lead_out).encode()


def _take_out(name: str, page: bytes) -> bytes:
    """A page of a state as it lies in a site on a disk."""
    if not name.endswith(".html"):
        return page
    return map_links(name, page.decode(), lambda link: _OUTSIDE.sub(r"\1", link)).encode()


def _lead_out(link: str) -> str:
    return f"../../{link}" if link.startswith(("../", *PICTURE_FOLDERS)) else link
