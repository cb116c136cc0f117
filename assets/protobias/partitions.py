"""How ProtoBias's assets are divided."""

from dagster import MultiPartitionsDefinition, StaticPartitionsDefinition

from assets.kit.partitions import painters
from generators.prompts.concepts import DOMAINS

protobias_domains = StaticPartitionsDefinition(list(DOMAINS))
"""The domains: animals, demography and objects."""

pairs = MultiPartitionsDefinition({"domain": protobias_domains, "painter": painters})
"""A painter's image pairs of a domain; as a key "domain|painter", as in "animals|sketch"."""


def domain_and_painter(key: str) -> tuple[str, str]:
    """The two parts of a key of `pairs`."""
    domain, _, painter = key.partition("|")
    return domain, painter
