"""What every asset of this benchmark shares."""

from functools import partial

from dagster import AssetKey

from assets.kit import table_asset as common
from assets.vlmbias.partitions import topics

GROUP = "vlmbias"

table_asset = partial(common.table_asset, GROUP, partitions=topics)
"""An asset of this benchmark that makes a table, a partition a topic or as said."""


def answers_of(judge: str) -> AssetKey:
    """The key of a judge's answers. Its last part alone is what the asset graph shows."""
    return AssetKey([GROUP, f"answers_{judge}"])


def edited_by(writer: str) -> AssetKey:
    """The key of the flags that a writer edited."""
    return AssetKey([GROUP, f"edited_flags_{writer}"])
