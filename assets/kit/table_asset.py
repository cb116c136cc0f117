"""Parts that the assets of all benchmarks share."""

from collections.abc import Callable, Sequence
from typing import Any

from dagster import AssetKey, AssetsDefinition, PartitionsDefinition, asset

from assets.kit.columns import Columns

OWNERS = ["team:counterfactory"]


class TablesMismatch(ValueError):
    """Two tables that belong together were not made together."""


class NotMaterialized(ValueError):
    """Inputs have no materialized partition yet."""


def table_asset(
    group: str,
    *,
    description: str,
    columns: Columns,
    partitions: PartitionsDefinition[Any] | None,
    kinds: Sequence[str] = (),
    key: AssetKey | None = None,
    code_version: str = "1",
    **others: Any,
) -> Callable[[Callable[..., Any]], AssetsDefinition]:
    """An asset of the benchmark `group` that makes a table of `columns`.

    It is named by its function unless `key` is given; `others` are Dagster's own, as in `deps`.
    """
    decorate: Callable[[Callable[..., Any]], AssetsDefinition] = asset(
        key=key,
        key_prefix=None if key else group,
        group_name=group,
        owners=OWNERS,
        kinds={"python", "parquet", *kinds},
        partitions_def=partitions,
        description=description,
        metadata=columns.dagster_metadata(),
        code_version=code_version,
        **others,
    )

    def build(function: Callable[..., Any]) -> AssetsDefinition:
        if "check_specs" in others:
            # Dagster takes the result's type for that of several outputs, where there are checks.
            function.__annotations__.pop("return", None)
        return decorate(function)

    return build
