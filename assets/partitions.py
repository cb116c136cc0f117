"""How the assets are divided."""

from dagster import StaticPartitionsDefinition

from generators.domains import domains

topics = StaticPartitionsDefinition(list(domains()))
"""VLMBias's drawn topics, one partition each."""
