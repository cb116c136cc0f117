"""What every asset of this benchmark shares."""

from functools import partial

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


def scores_of(metric: str) -> AssetKey:
    """The key of the scores by a metric or judge; its last part alone is what the graph shows."""
    return key(f"scores_{metric}")


def is_stored(home: Home, name: AssetKey, partition: str) -> bool:
    """Whether a table was ever materialized."""
    try:
        home.table(name, partition, [])
    except FileNotFoundError:
        return False
    return True
