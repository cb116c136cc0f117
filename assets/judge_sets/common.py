"""Group, partitions and keys shared by the assets of this benchmark."""

from collections.abc import Mapping
from functools import partial

from dagster import AssetKey, StaticPartitionsDefinition

from assets.kit import table_asset as common
from assets.kit.collections import (
    SAMPLE_PAIRS,
    find_sample_collection,
    load_listed_collections,
)
from resources.collections import Collection

GROUP = "judge_sets"
TITLE = "Judges beside people"
QUESTION = "Does a judge prefer the response that people prefer, in either order?"
EVALUATION_VERSION = "2"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])


def load_pair_collections() -> Mapping[str, Collection]:
    """The collections with a question, two responses and the preferred one, by name.

    The pairs that come along, which nobody compared, are a rehearsal: with others they are none.
    """
    pairs = {
        name: collection
        for name, collection in load_listed_collections().items()
        if collection.columns.question
        and collection.columns.responses
        and collection.columns.preferred
    }
    sample = find_sample_collection(SAMPLE_PAIRS)
    return {name: pairs[name] for name in pairs if pairs[name] != sample} or pairs


def build_set_partitions() -> StaticPartitionsDefinition:
    """The partitions: collections of pairs."""
    return StaticPartitionsDefinition([*load_pair_collections()])
