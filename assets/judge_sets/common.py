"""Group, partitions and keys shared by the assets of this benchmark."""

from functools import partial

from dagster import AssetKey

from assets.kit import table_asset as common
from assets.kit.collections import CollectionSets

GROUP = "judge_sets"
TITLE = "Judges beside people"
QUESTION = "Does a judge prefer the response that people prefer, in either order?"
EVALUATION_VERSION = "2"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

SETS = CollectionSets(
    lambda collection: bool(
        collection.columns.question
        and collection.columns.responses
        and collection.columns.preferred
    ),
    "pairs.csv",
)
"""The collections with a question, two responses and the preferred one."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])
