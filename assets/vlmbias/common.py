"""What every asset of this benchmark shares."""

from functools import partial

from assets import common
from assets.partitions import topics

GROUP = "vlmbias"

table_asset = partial(common.table_asset, GROUP, partitions=topics)
"""An asset of this benchmark that makes a table, a partition a topic or as said."""
