"""Group, partitions and keys shared by the assets of this benchmark."""

from collections.abc import Mapping
from functools import partial

from dagster import AssetKey, StaticPartitionsDefinition

from assets.kit import table_asset as common
from assets.kit.collections import load_listed_collections
from resources.collections import Collection

GROUP = "cdh_bench"
TITLE = "CDH-Bench"
QUESTION = "Does a judge see what contradicts common sense, or name what is usual?"
EVALUATION_VERSION = "2"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])


def load_contrast_collections() -> Mapping[str, Collection]:
    """The collections in CDH-Bench's layout, by name."""
    listed = load_listed_collections().items()
    return {name: collection for name, collection in listed if collection.layout == "cdh_bench"}


def build_set_partitions() -> StaticPartitionsDefinition:
    """The partitions: collections in the layout."""
    return StaticPartitionsDefinition([*load_contrast_collections()])
