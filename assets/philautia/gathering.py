"""The scores of a dataset as one array: by picture, who wrote the caption, and who scored it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from assets.philautia.common import key
from resources.home import Home
from resources.models.catalog import Model

READ = ["image_id", "generator", "setting", "score", "outcome", "rehearsal"]
"""The columns that are read: responses of many judges are larger than memory."""


class Asked(NamedTuple):
    """What judges gave in one setting: NaN where there is no score; the names of what is what."""

    values: "np.ndarray[tuple[int, int, int], np.dtype[np.float64]]"
    images: Sequence[str]
    generators: Sequence[str]
    evaluators: Sequence[str]
    asked: pd.DataFrame
    """By generator (rows) and evaluator: how many captions were asked about."""


def score_tables(
    home: Home, dataset: str, evaluators: Iterable[Model], columns: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """By judge, the scores that there are."""
    found = {
        each.name: home.find(key(f"scores_{each.name}"), dataset, list(columns))
        for each in evaluators
    }
    return {name: table for name, table in found.items() if table is not None and len(table)}


def gathered(tables: Mapping[str, pd.DataFrame], setting: str) -> Asked:
    """The scores of models' captions in a setting, of all pictures that any judge was asked of."""
    held = {
        name: table[table["setting"].eq(setting) & table["generator"].notna()]
        for name, table in tables.items()
    }
    held = {name: table for name, table in held.items() if len(table)}
    images = pd.Index(pd.unique(pd.concat([t["image_id"] for t in held.values()]))) if held else []
    generators = list(
        dict.fromkeys(name for t in held.values() for name in t["generator"].unique())
    )
    values = np.full((len(images), len(generators), len(held)), np.nan)
    asked = pd.DataFrame(0, generators, list(held))
    for column, (name, table) in enumerate(held.items()):
        rows = pd.Index(images).get_indexer(pd.Index(table["image_id"]))
        writers = pd.Index(generators).get_indexer(pd.Index(table["generator"]))
        values[rows, writers, column] = table["score"].astype(float)
        asked[name] = table["generator"].value_counts().reindex(generators, fill_value=0)
    return Asked(values, list(images), generators, list(held), asked)
