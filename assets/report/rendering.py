"""Pages, rendered from the templates that all benchmarks share and those of one."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from assets.kit.content_policy import content_policy
from assets.report import formats
from assets.report.csv_files import CsvFiles
from assets.report.outcomes import served_table

_HERE = Path(__file__).parent
STATIC = (_HERE / "site.css", _HERE / "site.js")
"""The files that every page links to."""
_PARTS = [
    "chart",
    "costs",
    "curve",
    "exhibit",
    "filters",
    "notice",
    "opening",
    "paper",
    "section",
    "strip",
    "subject_head",
    "table",
    "thinking",
]
"""Templates whose macros every page sees, unless a value has the same name."""


class Shell(NamedTuple):
    """The frame of every page: the site's title, its links, its footer, more stylesheets."""

    title: str
    facts: Mapping[str, str]
    links: Sequence[tuple[str, str]] = ()
    styles: Sequence[str] = ()


class Renderer:
    """Renders pages from the templates in a folder; all of them see `shell` and `shared`."""

    def __init__(self, templates: Path, shell: Shell, **shared: object) -> None:
        self._templates = _environment(templates)
        self._shared = {"shell": shell, "served_table": served_table, **shared}
        self._shared["policy"] = content_policy()

    def page(self, path: str, template: str, **values: object) -> Iterator[tuple[str, str]]:
        """Yield a page, then the CSV file of each table on it, as (path in the site, text)."""
        files = CsvFiles(path)
        values |= {"path": path, "root": "../" * path.count("/"), "csv_files": files}
        context = {**self._shared, **values}
        for part in _PARTS:
            macros = self._templates.get_template(f"{part}.html").make_module(context)
            context = {**vars(macros), **context}
        yield path, self._templates.get_template(template).render(context)
        yield from files.texts.items()


@cache
def _environment(templates: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([templates, _HERE / "templates"]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(formats.FILTERS)
    return environment
