"""Front pages in an object store, which lead to the published states of sites."""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from upath import UPath

from resources.sites.local_front import MARK, write_changed
from resources.sites.page_links import map_links
from resources.sites.remote_site import PICTURE_FOLDERS
from resources.sites.site_states import STATES, SiteState, find_states, replace_state
from resources.storage.files import list_folder


class RemoteFront:
    """The folder in which sites lie, in an object store."""

    def __init__(self, folder: UPath) -> None:
        self._folder = folder
        self._sites: dict[str, SiteState] = {}

    def list_sites(self) -> list[SiteState]:
        """List the published states of the sites in order of their names."""
        # Files of the front pages have a dot in their names, and sites have none.
        paths = [path for path in list_folder(self._folder) if "." not in path.name]
        states = find_states(*(path for path in paths if path.name != STATES)).values()
        self._sites = {state.name: state for state in states}
        return [self._sites[name] for name in sorted(self._sites)]

    def write(self, files: Mapping[str, bytes], folders: Sequence[str]) -> None:
        """Publish a state of the front pages, with links to the states that were listed last."""
        write_changed(self._folder / MARK, files[MARK])
        pages = {name: self._place(name, data) for name, data in files.items() if name != MARK}
        replace_state(self._folder, pages)

    def _place(self, name: str, data: bytes) -> bytes:
        if not name.endswith(".html"):
            return data
        return map_links(name, data.decode(), self._lead_out).encode()

    def _lead_out(self, link: str) -> str:
        name, slash, path = link.partition("/")
        state = self._sites.get(unquote(name))
        if not slash or state is None:
            return link
        place = "" if path.startswith(PICTURE_FOLDERS) else f"{STATES}/{state.key}/"
        return f"../../{name}/{place}{path}"
