"""Group, keys and partitions shared by every asset of this benchmark."""

from functools import partial

import pandas as pd
from dagster import AssetKey, MultiPartitionsDefinition, StaticPartitionsDefinition

from assets.kit import table_asset as common
from assets.kit.partitions import painters
from generators.prompts.concepts import DOMAINS
from resources.storage.data_root import DataRoot

GROUP = "protobias"
TITLE = "ProtoBias"
QUESTION = "Does a metric prefer the picture that fits the text, or the one that is typical?"
EVALUATION_VERSION = "1"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


protobias_domains = StaticPartitionsDefinition(list(DOMAINS))
"""The domains: animals, demography and objects."""

pairs = MultiPartitionsDefinition({"domain": protobias_domains, "painter": painters})
"""A painter's image pairs of a domain; as a key "domain|painter", as in "animals|sketch"."""


def split_pair_key(partition: str) -> tuple[str, str]:
    """The two parts of a key of `pairs`."""
    domain, _, painter = partition.partition("|")
    return domain, painter


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])


TRIPLETS_KEY, PAIRS_KEY = asset_key("prompt_triplets"), asset_key("image_pairs")
FILTERED_KEY = asset_key("filtered_pairs")


def load_by_domain(
    home: DataRoot, name: str, painter: str = "", columns: list[str] | None = None
) -> dict[str, pd.DataFrame]:
    """Load an asset's tables by domain, or a painter's part of them; absent ones are left out."""
    partitions = {domain: f"{domain}|{painter}" if painter else domain for domain in DOMAINS}
    tables = {
        domain: home.find(asset_key(name), partition, columns)
        for domain, partition in partitions.items()
    }
    return {domain: table for domain, table in tables.items() if table is not None}
