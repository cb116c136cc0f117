"""How VLMBias's assets are divided."""

from dagster import MultiPartitionsDefinition, StaticPartitionsDefinition

from assets.kit.partitions import painters
from generators.topics import DRAWN, PHOTOGRAPHED

drawn_topics = StaticPartitionsDefinition(list(DRAWN))
"""The topics that are drawn by code."""

photographed_topics = StaticPartitionsDefinition(list(PHOTOGRAPHED))
"""The topics that text-to-image models paint: animals and logos."""

topics = StaticPartitionsDefinition([*DRAWN, *PHOTOGRAPHED])
"""All seven topics."""

photographs = MultiPartitionsDefinition({"topic": photographed_topics, "painter": painters})
"""A painter's photographs of a topic; as a key "painter|topic", as in "sketch|animals"."""


def painter_and_topic(key: str) -> tuple[str, str]:
    """The two parts of a key of `photographs`."""
    painter, _, topic = key.partition("|")
    return painter, topic
