"""Partitions of benchmarks that paint."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from dagster import (
    DagsterInstance,
    DynamicPartitionsDefinition,
    MonthlyPartitionsDefinition,
    MultiPartitionsDefinition,
    PartitionsDefinition,
)

from resources.collections import CollectionError, Collections, collections_path
from resources.collections import load as load_collections
from resources.models.catalog import Catalog
from resources.user_files.edited_files import load_user_file

painters = DynamicPartitionsDefinition(name="painters")
"""Text-to-image models, by their names in models.yaml; each is added when it is noticed there."""

sources = DynamicPartitionsDefinition(name="sources")
"""Sources of pictures, for a benchmark that also takes a user's own: painters, collections."""

months = MonthlyPartitionsDefinition(start_date="2026-01", fmt="%Y-%m", end_offset=1)
"""Months of UTC ("2026-11"), with the one that has begun."""

BY_PAINTER = (painters, sources)
"""Partitions with every painter as a part."""


def add_painters(instance: DagsterInstance, catalog: Catalog) -> None:
    """Make a partition of every painter in models.yaml; those that were there stay.

    Where collections can stand for painters, those of collections.yaml get one as well.
    """
    listed = list_painters(catalog)
    for partitions_def in BY_PAINTER:
        instance.add_dynamic_partitions(str(partitions_def.name), listed)
    instance.add_dynamic_partitions(str(sources.name), find_new_collections(instance, catalog))


def list_painters(catalog: Catalog) -> list[str]:
    """The painters that models.yaml names."""
    return [model.name for model in catalog.select_role("painter")]


def load_distinct_collections(catalog: Catalog) -> Collections:
    """The collections of collections.yaml, none of which is called as a painter is."""
    return load_collections(collections_path(), list_painters(catalog))


def read_collections(catalog: Catalog, copies: Path) -> Collections:
    """The same, with a copy of the file in the folder `copies`.

    Runs that start while it cannot be read take the copy.
    """
    path = collections_path()
    read = partial(load_collections, path, list_painters(catalog))
    return load_user_file(path, copies, read, CollectionError)


def find_new_collections(instance: DagsterInstance, catalog: Catalog) -> list[str]:
    """The collections of collections.yaml that have no partition yet."""
    partition_names = instance.get_dynamic_partitions(str(sources.name))
    return [name for name in load_distinct_collections(catalog) if name not in partition_names]


def partition_painters(
    instance: DagsterInstance, partitions_defs: Iterable[PartitionsDefinition[Any]] = BY_PAINTER
) -> set[str]:
    """Find the names present in all partitions by painter among some."""
    parts = [
        set(instance.get_dynamic_partitions(str(partitions_def.name)))
        for partitions_def in partitions_defs
        if isinstance(partitions_def, DynamicPartitionsDefinition)
    ]
    return set.intersection(*parts)


def partition_tags(key: str, partitions_def: PartitionsDefinition[Any] | None) -> dict[str, str]:
    """The tags by which a run knows its partition."""
    if isinstance(partitions_def, MultiPartitionsDefinition):
        return dict(partitions_def.get_tags_for_partition_key(key))
    return {"dagster/partition": key}


def is_by_painter(partitions_def: PartitionsDefinition[Any] | None) -> bool:
    """Return whether an asset is partitioned by painter and a second dimension."""
    return isinstance(partitions_def, MultiPartitionsDefinition) and any(
        dimension.partitions_def in BY_PAINTER for dimension in partitions_def.partitions_defs
    )


def split_partition_key(
    key: str, partitions_def: PartitionsDefinition[Any] | None
) -> dict[str, str]:
    """Split a two-dimensional key into its parts by dimension; empty for other keys."""
    if not isinstance(partitions_def, MultiPartitionsDefinition):
        return {}
    dimensions = sorted(dimension.name for dimension in partitions_def.partitions_defs)
    return dict(zip(dimensions, key.split("|"), strict=True))


def parse_painter_key(key: str, partitions_def: PartitionsDefinition[Any] | None) -> str:
    """Parse the painter from a key of assets partitioned by painter and a second dimension."""
    assert isinstance(partitions_def, MultiPartitionsDefinition)
    (name,) = (
        dimension.name
        for dimension in partitions_def.partitions_defs
        if dimension.partitions_def in BY_PAINTER
    )
    return split_partition_key(key, partitions_def)[name]


def find_partition_painter(
    key: str, partitions_def: PartitionsDefinition[Any] | None
) -> str | None:
    """Find the painter, or collection, of a partition; None for one of other things."""
    if is_by_painter(partitions_def):
        return parse_painter_key(key, partitions_def)
    return key if partitions_def in BY_PAINTER else None


def partitions_suffix(partitions_def: PartitionsDefinition[Any] | None) -> str:
    """Format the partitioning of assets as a suffix of a job's name: by_domain_and_painter."""
    if isinstance(partitions_def, MultiPartitionsDefinition):
        names = sorted(dimension.name for dimension in partitions_def.partitions_defs)
        return f"by_{'_and_'.join(names)}"
    if partitions_def is None:
        return "unpartitioned"
    return "by_painter" if partitions_def == painters else "by_partition"
