"""What every asset of this benchmark shares."""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dagster import AssetDep, AssetIn, AssetsDefinition, PartitionsDefinition, asset

from assets.columns import Columns
from assets.partitions import topics

GROUP = "vlmbias"
OWNERS = ["team:counterfactory"]


class Mismatch(ValueError):
    """Two tables that belong together were not made together."""


def table_asset(
    *,
    description: str,
    columns: Columns,
    ins: Mapping[str, AssetIn] | None = None,
    kinds: Sequence[str] = (),
    key: Sequence[str] = (),
    pool: str | None = None,
    partitions: PartitionsDefinition[Any] | None = topics,
    deps: Sequence[AssetDep] = (),
    code_version: str = "1",
) -> Callable[[Callable[..., Any]], AssetsDefinition]:
    """An asset of this benchmark that makes a table of `columns`, a partition a topic or as said.

    It is named by its function unless `key` gives its key below `vlmbias`.
    """
    return asset(
        name=key[-1] if key else None,
        key_prefix=[GROUP, *key[:-1]],
        group_name=GROUP,
        owners=OWNERS,
        kinds={"python", "parquet", *kinds},
        partitions_def=partitions,
        deps=deps,
        ins=ins,
        pool=pool,
        description=description,
        metadata=columns.described(),
        code_version=code_version,
    )


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG in px, from its header."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height
