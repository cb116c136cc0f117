"""The start page of all reports: what each benchmark found, and where its report lies."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from upath import UPath

from assets.report.rendering import STATIC, Renderer, Shell
from resources.atomic_writes import write_whole

State: TypeAlias = Literal["results", "trial", "stand-in run", "no results yet"]

_ENTRY = "finding.json"
_MARK = '<svg xmlns="http://www.w3.org/2000/svg"><title>Reports</title></svg>\n'
"""`mark.svg`: a page leads to the start page once it has seen that this lies beside it."""


class Entry(NamedTuple):
    """What the start page says of a benchmark: its question, what was found, and how firmly."""

    title: str
    question: str
    finding: str
    state: State

    @property
    def file(self) -> tuple[str, str]:
        """The file of a site from which the start page is made, as (path, text)."""
        return _ENTRY, json.dumps(self._asdict(), ensure_ascii=False, indent=2) + "\n"


def write_start_page(folder: Path) -> Path:
    """Write the start page of the sites that lie in `folder`, and return its path.

    A site is listed once it lies there with its entry, so that no benchmark is named here. Of two
    reports that end at once, the page of the last one might lack the other: it looks again.
    """
    listed: dict[str, Entry] | None = None
    while listed != (entries := _entries(folder)):
        _write(folder, entries)
        listed = entries
    return folder / "index.html"


def _entries(folder: Path) -> dict[str, Entry]:
    found = {}
    for file in sorted(folder.glob(f"[!.]*/{_ENTRY}")):
        # Whoever replaces that site at this moment writes the start page once more.
        with suppress(FileNotFoundError):
            found[file.parent.name] = Entry(**json.loads(file.read_text(encoding="utf-8")))
    return found


def _write(folder: Path, entries: Mapping[str, Entry]) -> None:
    render = Renderer(Path(__file__).parent / "templates", Shell("Counterfactory", {})).page
    files = {"mark.svg": _MARK.encode(), **{file.name: file.read_bytes() for file in STATIC}}
    for path, text in render("index.html", "start.html", entries=entries):
        files[path] = text.encode()
    for path, data in files.items():
        write_whole(UPath(folder / path), data)
