"""What every asset of this benchmark shares."""

from functools import partial

import pandas as pd
from dagster import AssetKey

from assets.kit import table_asset as common
from resources.home import Home

GROUP = "protobias"
TITLE = "ProtoBias"
QUESTION = "Does a metric prefer the picture that fits the text, or the one that is typical?"

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def key(*name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, *name])


TRIPLETS_KEY, PAIRS_KEY, FILTERED_KEY = map(
    key, ("prompt_triplets", "image_pairs", "filtered_pairs")
)


def scores_of(metric: str) -> AssetKey:
    """The key of the scores by a metric or judge; its last part alone is what the graph shows."""
    return key(f"scores_{metric}")


def stored(
    home: Home, partition: str, name: str, columns: list[str] | None = None
) -> pd.DataFrame | None:
    """What was stored last of an asset; None where it was never materialized. Raises `Corrupt`."""
    return home.find(key(name), partition, columns)


def is_stored(home: Home, name: str, partition: str) -> bool:
    """Whether an asset was ever materialized."""
    return stored(home, partition, name, []) is not None
