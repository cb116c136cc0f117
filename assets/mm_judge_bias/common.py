"""Group, partitions and keys shared by the assets of this benchmark."""

from collections.abc import Mapping
from functools import partial

from dagster import AssetKey, StaticPartitionsDefinition

from assets.kit import table_asset as common
from assets.kit.collections import load_listed_collections
from resources.collections import Collection

GROUP = "mm_judge_bias"
TITLE = "MM-JudgeBias"
QUESTION = "Does a score fall where evidence is gone, and stay where nothing that matters changes?"
EVALUATION_VERSION = "1"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])


def load_bias_collections() -> Mapping[str, Collection]:
    """The collections in MM-JudgeBias's layout, by name."""
    listed = load_listed_collections().items()
    return {name: collection for name, collection in listed if collection.layout == "mm_judge_bias"}


def build_set_partitions() -> StaticPartitionsDefinition:
    """The partitions: collections in the layout."""
    return StaticPartitionsDefinition([*load_bias_collections()])
