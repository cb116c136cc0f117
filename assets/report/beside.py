"""Reports that lie below one data root know of each other.

Each holds a `beside.js` that names the others; a page shows a link to one once it has seen that the
report is there, so that a folder that was taken elsewhere has no dead links.
"""

import json
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

from upath import UPath

from resources.atomic import write_whole

_OTHERS, _MARK = "beside.js", "mark.svg"


def alone(title: str) -> Iterator[tuple[str, str]]:
    """What a report of that title holds as long as it knows of no other, as (path, text)."""
    yield _OTHERS, "beside({});\n"
    yield _MARK, f'<svg xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title></svg>\n'


def introduce(root: Path) -> None:
    """Tell all reports below a data root of each other; `root` holds `<benchmark>/report`."""
    reports = [folder for folder in sorted(root.glob("*/report")) if (folder / _MARK).exists()]
    for folder in reports:
        others = {
            _title(other): f"../../{other.parent.name}/report"
            for other in reports
            if other != folder
        }
        script = f"beside({json.dumps(others)});\n"
        write_whole(UPath(folder / _OTHERS), script.encode())


def _title(report: Path) -> str:
    """What a report calls itself: the text of its mark."""
    mark = (report / _MARK).read_text(encoding="utf-8")
    return unescape(mark.partition("<title>")[2].partition("<")[0])
