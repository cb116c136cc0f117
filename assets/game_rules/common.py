"""Group, partitions and keys shared by the assets of this benchmark."""

from functools import partial

from dagster import AssetKey, StaticPartitionsDefinition

from assets.kit import table_asset as common
from generators.game_rules.rules import SIDES

GROUP = "game_rules"
TITLE = "Games by another rule"
QUESTION = "Does a judge apply the rule that it reads, or the one that it knows?"
EVALUATION_VERSION = "2"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

games = StaticPartitionsDefinition(list(SIDES))
table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])
