"""Templates, and the files beside them, that the sites of all benchmarks share."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from assets.report import formats

_HERE = Path(__file__).parent
STATIC = (_HERE / "site.css", _HERE / "site.js")
"""What every page links to."""


def environment(*folders: Path) -> Environment:
    """The templates of `folders`, then the shared ones, with the shared ways to write numbers."""
    found = Environment(
        loader=FileSystemLoader([*folders, _HERE / "templates"]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters.update(formats.FILTERS)
    return found
