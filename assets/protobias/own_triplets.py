"""Triplets and templates of a user's own, as `prompt_triplets` takes them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from generators.prompts.taxonomy import list_taxonomy_cells
from resources.models.catalog import Model
from resources.user_files.own_templates import read_own_templates
from resources.user_files.own_triplets import OwnTriplets, read_own_triplets
from resources.user_files.rows import UserFileError
from resources.user_files.taxonomy_file import find_taxonomy_path, load_taxonomy

WRITER = "own"
"""Writer of the user's own triplets in tables."""


def load_own_triplets(path: str, domain: str) -> OwnTriplets:
    """The triplets of a domain in a file; none without one. Raises `UserFileError`."""
    if not path:
        return OwnTriplets()
    people = domain == "demography"
    groups = (
        list_taxonomy_cells(load_taxonomy(find_taxonomy_path()), domain)[0].labels if people else ()
    )
    return read_own_triplets(path, domain, groups)


def load_templates(path: str, writer: Model) -> Mapping[str, str]:
    """The templates in a file by domain; none without one. Raises `UserFileError`."""
    if path and writer.backend == "stand_in":
        raise UserFileError(
            f"{writer.name} writes by rule and reads no template. Choose another writer, or leave "
            "templates_file out."
        )
    return read_own_templates(path) if path else {}


def to_triplet_rows(own_triplets: OwnTriplets, first_rank: int) -> list[dict[str, Any]]:
    """Convert them to rows of `prompt_triplets`, from a rank in the sample on."""
    return [
        {
            **asdict(concept),
            "sample_rank": first_rank + number,
            "seed": 0,
            "writer": WRITER,
            **triplet._asdict(),
            "outcome": "accepted",
            "rules": [],
            "earlier_rules": [],
            "attempts": 0,
            "calls": [],
        }
        for number, (concept, triplet) in enumerate(own_triplets.triplets)
    ]


def list_unusable_rows(own_triplets: OwnTriplets) -> pd.DataFrame:
    """The rows of the file that are not used, with the reason."""
    return pd.DataFrame(own_triplets.unusable_rows, columns=["row", "why it is not used"])


def unused_rows_warning(own_triplets: OwnTriplets, path: str) -> str | None:
    """A warning of unused rows; None if all are used."""
    lines = "\n".join(
        f"  {path}, {place}: {reason}" for place, reason in own_triplets.unusable_rows
    )
    return (
        f"{len(own_triplets.unusable_rows)} of {own_triplets.rows} rows are not used.\n{lines}"
        if own_triplets.unusable_rows
        else None
    )
