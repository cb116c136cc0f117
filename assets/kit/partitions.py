"""How the assets are divided."""

from dagster import (
    DagsterInstance,
    DynamicPartitionsDefinition,
    MultiPartitionsDefinition,
    StaticPartitionsDefinition,
)

from generators.prompts.concepts import DOMAINS
from generators.topics import DRAWN, PHOTOGRAPHED
from resources.models.catalog import Catalog

drawn_topics = StaticPartitionsDefinition(list(DRAWN))
"""VLMBias's topics that are drawn by code."""

photographed_topics = StaticPartitionsDefinition(list(PHOTOGRAPHED))
"""VLMBias's topics that text-to-image models paint: animals and logos."""

topics = StaticPartitionsDefinition([*DRAWN, *PHOTOGRAPHED])
"""All seven topics."""

painters = DynamicPartitionsDefinition(name="painters")
"""Text-to-image models, by their names in models.yaml; each is added when it is noticed there."""


def add_painters(instance: DagsterInstance, catalog: Catalog) -> None:
    """Make a partition of every painter in models.yaml; those that were there stay."""
    listed = [model.name for model in catalog.with_role("painter")]
    instance.add_dynamic_partitions(str(painters.name), listed)


photographs = MultiPartitionsDefinition({"topic": photographed_topics, "painter": painters})
"""A painter's photographs of a topic; as a key "painter|topic", as in "sketch|animals"."""

protobias_domains = StaticPartitionsDefinition(list(DOMAINS))
"""ProtoBias's domains."""

pairs = MultiPartitionsDefinition({"domain": protobias_domains, "painter": painters})
"""A painter's image pairs of a domain of ProtoBias; as a key "domain|painter"."""


def painter_and_topic(key: str) -> tuple[str, str]:
    """The two parts of a key of `photographs`."""
    painter, _, topic = key.partition("|")
    return painter, topic


def domain_and_painter(key: str) -> tuple[str, str]:
    """The two parts of a key of `pairs`."""
    domain, _, painter = key.partition("|")
    return domain, painter


def tags_of(key: str) -> dict[str, str]:
    """The tags by which a run knows its partition, whichever of these its assets are divided by.

    A key that could be of `pairs` or of `photographs`, since a painter is named like a domain, is
    taken for one of `pairs`.
    """
    if "|" not in key:
        return {"dagster/partition": key}
    division = pairs if domain_and_painter(key)[0] in DOMAINS else photographs
    return dict(division.get_tags_for_partition_key(key))
