"""Group, keys and partitions shared by every asset of this benchmark."""

from functools import partial

from dagster import AssetKey, MultiPartitionsDefinition, StaticPartitionsDefinition

from assets.kit import table_asset as common
from assets.kit.columns import TEXT, TEXTS, WHOLE
from assets.kit.partitions import sources
from generators.prompts.visual_concepts import DOMAINS

GROUP = "frame"
TITLE = "FRAME"
QUESTION = "How far can a judge's score be moved by what has nothing to do with the picture?"
EVALUATION_VERSION = "2"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""

frame_domains = StaticPartitionsDefinition(list(DOMAINS))
"""The domains: people, animals, illustration, indoor and outdoor."""

by_source = MultiPartitionsDefinition({"domain": frame_domains, "source": sources})
"""A painter's or collection's pictures of a domain; as a key "domain|source"."""


def split_source_key(partition: str) -> tuple[str, str]:
    """The two parts of a key of `by_source`."""
    domain, _, source = partition.partition("|")
    return domain, source


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])


ITEM_COLUMNS = {
    "item_id": (TEXT, "Readable name, derived from its concepts alone"),
    "domain": (TEXT, "people, animals, illustration, indoor or outdoor"),
    "attributes": (
        TEXTS,
        "Attributes of its concepts, in the order of the paper's Table 8, such as number",
    ),
    "values": (TEXTS, "Value of each attribute, such as three"),
    "sample_rank": (WHOLE, "Rank in the sample, from 0: a smaller sample begins a larger one"),
    "seed": (WHOLE, "Random seed for sampling and for the changes"),
}
"""The columns of an item."""

WRITER_COLUMNS = {
    "writer": (TEXT, "Writer, as models.yaml names it"),
    "outcome": (TEXT, "written, rejected (by rule), unparsed, refused or failed"),
    "refusal": (TEXT, "content filter or model, if refused; else empty"),
    "reason": (TEXT, "Problem with the sentence, or reason for a missing one; else empty"),
    "attempts": (WHOLE, "Number of requests; empty if none was needed"),
    "served_model": (TEXT, "Model that wrote it, as the provider names it; empty if unnamed"),
    "calls": (TEXTS, "Keys of the stored calls behind it"),
}
"""The columns of how a sentence was written."""
