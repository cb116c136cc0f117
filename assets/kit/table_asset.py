"""What the assets of all benchmarks share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dagster import (
    AssetCheckSpec,
    AssetDep,
    AssetIn,
    AssetKey,
    AssetsDefinition,
    PartitionsDefinition,
    asset,
)

from assets.kit.columns import Columns

OWNERS = ["team:counterfactory"]


class Mismatch(ValueError):
    """Two tables that belong together were not made together."""


class NothingYet(ValueError):
    """No partition has been materialized that far."""


def table_asset(
    group: str,
    *,
    description: str,
    columns: Columns,
    partitions: PartitionsDefinition[Any] | None,
    ins: Mapping[str, AssetIn] | None = None,
    kinds: Sequence[str] = (),
    key: AssetKey | None = None,
    pool: str | None = None,
    deps: Sequence[AssetDep | AssetKey] = (),
    code_version: str = "1",
    check_specs: Sequence[AssetCheckSpec] = (),
) -> Callable[[Callable[..., Any]], AssetsDefinition]:
    """An asset of the benchmark `group` that makes a table of `columns`.

    It is named by its function unless `key` is given.
    """
    return asset(
        key=key,
        key_prefix=None if key else group,
        group_name=group,
        owners=OWNERS,
        kinds={"python", "parquet", *kinds},
        partitions_def=partitions,
        deps=deps,
        ins=ins,
        pool=pool,
        description=description,
        metadata=columns.described(),
        code_version=code_version,
        check_specs=check_specs,
    )
