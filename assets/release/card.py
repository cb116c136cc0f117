"""The data card of a release: README.md, with the head by which loaders find its files."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from assets.release.contents import Release
from assets.release.provenance import AssetOrigin
from assets.release.statements import PROOFS, build_statements
from resources.spdx_licences import is_listed

FILE = "README.md"
_SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
_OTHER = "other"
"""The hub's word for a licence that is none of its list, as where parts have several."""


def build_card(release: Release, origins: Sequence[AssetOrigin]) -> str:
    """Build the text of the data card."""
    environment = Environment(
        loader=PackageLoader("assets.release", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("card.jinja").render(
        head=yaml.safe_dump(_build_head(release), sort_keys=False, allow_unicode=True),
        release=release,
        origins=origins,
        statements=build_statements(release, origins),
        proofs=PROOFS,
        escape=_escape_cell,
    )


def _build_head(release: Release) -> Mapping[str, Any]:
    licences = {part.licence for part in release.licences}
    rows = sum(table.rows for table in release.tables)
    (licence, *more) = sorted(licences)
    return {
        "pretty_name": release.title,
        **(
            {"license": _OTHER, "license_name": "by-part", "license_link": "LICENCES.md"}
            if more or not is_listed(licence)
            else {"license": licence.lower()}
        ),
        "language": ["en"],
        "size_categories": [next((n for top, n in _SIZES.items() if rows < top), "n>1M")],
        "task_categories": list(release.card.task_categories),
        "tags": ["counterfactory", release.benchmark, *release.card.tags],
        "configs": [
            {
                "config_name": table.declaration.config,
                **({"default": True} if table is release.tables[0] else {}),
                "data_files": [
                    {
                        "split": split.name,
                        "path": f"data/{table.declaration.config}/{split.name}-*.parquet",
                    }
                    for split in table.splits
                ],
            }
            for table in release.tables
        ],
    }


def _escape_cell(text: str) -> str:
    """The text as a cell of a Markdown table."""
    return " ".join(text.replace("|", "\\|").split())
