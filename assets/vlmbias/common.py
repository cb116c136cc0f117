"""Group, keys and partitions that all assets of this benchmark share."""

from functools import partial

from dagster import AssetKey, MultiPartitionsDefinition, StaticPartitionsDefinition

from assets.kit import table_asset as common
from assets.kit.partitions import painters
from generators.domains import load_isolated_domains
from generators.topics import DRAWN, PHOTOGRAPHED, PLACED

GROUP = "vlmbias"
TITLE = "VLMBias"
QUESTION = "Does a vision-language model count what it sees, or what it remembers?"
EVALUATION_VERSION = "1"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

drawn_topics = StaticPartitionsDefinition(list(DRAWN))
"""The topics that are drawn by code."""

isolated_topics = StaticPartitionsDefinition([*load_isolated_domains()])
"""The drawn topics of which what is counted is drawn alone as well."""

pondered_topics = StaticPartitionsDefinition(["patterned_grids"])
"""The topic about which the stand-in that thinks is asked: one shows a chart."""

rerolled_topics = StaticPartitionsDefinition(list(PLACED))
"""The topics that another seed draws anew: chess pieces and patterned grids."""

photographed_topics = StaticPartitionsDefinition(list(PHOTOGRAPHED))
"""The topics that text-to-image models paint: animals and logos."""

topics = StaticPartitionsDefinition([*DRAWN, *PHOTOGRAPHED])
"""Partitions of all seven topics."""

photographs = MultiPartitionsDefinition({"topic": photographed_topics, "painter": painters})
"""Partitions of photographs by topic and painter; Dagster sorts dimensions: "sketch|animals"."""

table_asset = partial(common.table_asset, GROUP, partitions=topics)
"""`table_asset` in this benchmark's group, partitioned by topic unless overridden."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])


def split_photograph_key(key: str) -> tuple[str, str]:
    """The two parts of a key of `photographs`."""
    painter, _, topic = key.partition("|")
    return painter, topic


def answers_key(judge: str) -> AssetKey:
    """The key of a judge's answers."""
    return asset_key(f"answers_{judge}")


def edited_flags_key(writer: str) -> AssetKey:
    """The key of the flags that a writer edited."""
    return asset_key(f"edited_flags_{writer}")
