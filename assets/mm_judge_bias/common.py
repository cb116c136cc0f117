"""Group, partitions and keys shared by the assets of this benchmark."""

from functools import partial

from dagster import AssetKey

from assets.kit import table_asset as common
from assets.kit.collections import CollectionSets

GROUP = "mm_judge_bias"
TITLE = "MM-JudgeBias"
QUESTION = "Does a score fall where evidence is gone, and stay where nothing that matters changes?"
EVALUATION_VERSION = "2"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

SETS = CollectionSets(lambda collection: collection.layout == "mm_judge_bias", "biases.csv")
"""The collections in MM-JudgeBias's layout."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])
