"""What every asset of fine-tuning shares: the benchmark that declares cases, its group and keys."""

from functools import partial

from assets.kit import table_asset as common
from assets.kit.benchmarks import benchmarks
from assets.kit.tuning import TuningTable


def _declared() -> TuningTable:
    (table,) = (table for each in benchmarks().values() for table in each.tuning)
    return table


DECLARED = _declared()
"""The cases that a benchmark declares; what is trained on them has its group."""

table_asset = partial(common.table_asset, DECLARED.group)
"""An asset of this group that makes a table."""
