"""States of a site's pages in an object store.

Each state lies under a name of its own and is never changed. The entry page of the site, which is
written last, leads to one of them: a reader who opens it never gets pages of two. A state is
removed a day after another has replaced it, or after it was abandoned.
"""

import re
import time
from collections import defaultdict
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple
from uuid import uuid4

from upath import UPath

from resources.storage.atomic_writes import write_atomically
from resources.storage.file_batches import (
    FileInfo,
    list_infos,
    read_files,
    remove_files,
    write_files,
)
from resources.storage.files import read_file

INDEX, STATES = "index.html", "states"
GRACE_S = 86_400.0

_ENTRY = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=states/{key}/index.html">
<meta name="content-sha256" content="{digest}">
<title>Report</title>
</head>
<body><p><a href="states/{key}/index.html">Report</a></p></body>
</html>
"""
_LINK = re.compile(
    rb'url=states/([0-9a-f]{32})/index\.html">\n<meta name="content-sha256" content="([0-9a-f]{64})'
)


class SiteState(NamedTuple):
    """The state of a site to which its entry page leads; `digest` is of all its files."""

    folder: UPath
    key: str
    digest: str

    @property
    def name(self) -> str:
        """The name of the site."""
        return self.folder.name

    @property
    def path(self) -> UPath:
        """The path of its files."""
        return self.folder / STATES / self.key

    def read(self, file: str) -> bytes:
        """Read a file of it; raises FileNotFoundError."""
        return read_file(self.path / file)


def find_states(*folders: UPath) -> dict[UPath, SiteState]:
    """Find the published states of sites, by the folders of those that have one."""
    states = {}
    for entry, page in read_files(folder / INDEX for folder in folders).items():
        if link := _LINK.search(page):
            states[entry.parent] = SiteState(entry.parent, link[1].decode(), link[2].decode())
    return states


def replace_state(folder: UPath, pages: Mapping[str, bytes]) -> None:
    """Publish a site's pages, by path, unless they are published already.

    Raises `UnwritableStore`.
    """
    current = find_states(folder).get(folder)
    stored = list_infos(folder / STATES)
    digest = _digest(pages)
    if not (
        current
        and current.digest == digest
        and all(f"{current.key}/{page}" in stored for page in pages)
    ):
        state = SiteState(folder, uuid4().hex, digest)
        write_files({state.path / page: data for page, data in pages.items()})
        entry = _ENTRY.format(key=state.key, digest=digest)
        write_atomically(folder / INDEX, entry.encode())
    remove_files(
        folder / STATES / file for file in find_outdated(stored, current, time.time() - GRACE_S)
    )


def find_outdated(
    stored: Mapping[str, FileInfo], current: SiteState | None, cutoff: float
) -> list[str]:
    """Find the files of states that were replaced or abandoned before `cutoff`.

    `stored` are the files of all states by path, and `current` is the published state.
    """
    written_at = defaultdict[str, float](float)
    for file, info in stored.items():
        key = file.partition("/")[0]
        written_at[key] = max(written_at[key], info.modified_at)
    current_key = current.key if current else ""
    if written_at[current_key] >= cutoff:
        return []  # It may have replaced one of the others just now.
    old = {key for key, moment in written_at.items() if moment < cutoff} - {current_key}
    return [file for file in stored if file.partition("/")[0] in old]


def _digest(pages: Mapping[str, bytes]) -> str:
    digests = [f"{sha256(data).hexdigest()} {page}" for page, data in sorted(pages.items())]
    return sha256("\n".join(digests).encode()).hexdigest()
