"""Names that all assets of this benchmark share."""

from dagster import AssetKey

GROUP = "illusions"
TITLE = "Illusion controls"
QUESTION = "Does a judge see the parts that an illusion compares, or does it know the illusion?"
EVALUATION_VERSION = "1"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""
TOPIC = "optical_illusions"


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])
