"""Parts of a release: materialized partitions of the assets that its columns come from."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from dagster import AssetKey

from assets.kit.release_tables import ReleaseTable
from assets.kit.table_asset import NotMaterialized
from assets.release.contents import ReleaseSources
from generators.name_suggestions import suggest_names
from resources.execution.dagster_internals import Staleness

AssetPart: TypeAlias = tuple[AssetKey, str | None]
"""An asset and a partition of it; None for an asset without partitions."""
_NAMED = 10


class StaleTable(ValueError):
    """A release would be made from a table that is out of date."""


def find_parts(
    sources: ReleaseSources, tables: Sequence[ReleaseTable], chosen: Sequence[str]
) -> list[AssetPart]:
    """Find the materialized parts that the tables are made from, by asset, in order.

    `chosen` are partitions, or parts of their keys; empty: all. Raises `ValueError` for an unknown
    one, and `NotMaterialized` where one has nothing, or no table has anything.
    """
    keys = list(dict.fromkeys(key for table in tables for key in table.sources.values()))
    names = [name for key in keys for name in _list_keys(sources, key)]
    known_names = list(dict.fromkeys([*names, *(part for n in names for part in n.split("|"))]))
    parts = [part for key in keys for part in list_materialized_parts(sources, key, chosen)]
    for name in chosen:
        if name not in known_names:
            among = suggest_names(name, known_names)
            raise ValueError(f"{name!r}: no table to release has such a partition{among}.")
        if not any(partition and _overlaps(partition, name) for _, partition in parts):
            keys_with_it = [
                key
                for key in keys
                if any(_overlaps(partition, name) for partition in _list_keys(sources, key))
            ]
            raise NotMaterialized(
                f"{name}: nothing of this partition is materialized. Materialize "
                f"{_join(keys_with_it)} and what they are made from for it first, or leave it out."
            )
    if not parts:
        raise NotMaterialized(
            f"{', '.join(table.config for table in tables)}: none of the tables that it is made "
            f"from is materialized. Materialize {_join(keys)} first."
        )
    return parts


def has_parts(table: ReleaseTable, parts: Iterable[AssetPart]) -> bool:
    """Return whether any of the assets that a table is made from is among the parts."""
    keys = {key for key, _ in parts}
    return not keys.isdisjoint(table.sources.values())


def require_fresh(sources: ReleaseSources, parts: Sequence[AssetPart]) -> None:
    """Raise `StaleTable` where today's code and inputs would make other tables."""
    staleness = Staleness(sources.instance, sources.graph)
    stale = [part for part in parts if not staleness.is_fresh(*part)]
    if stale:
        names = [", ".join(filter(None, [key.to_user_string(), name])) for key, name in stale]
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        partitions = ",".join(list_partitions(stale))
        option = f" --partitions '{partitions}'" if partitions else ""
        assets = " or ".join(f'+key:"{name}"' for name in _names(key for key, _ in stale))
        raise StaleTable(
            f"Out of date: {'; '.join(names[:_NAMED])}{more}: code or inputs have changed since "
            f"they were made. Materialize them and what they are made from again, as by "
            f"counterfactory run '{assets}'{option}: what is stored is not drawn or paid for again."
        )


def list_materialized_parts(
    sources: ReleaseSources, key: AssetKey, chosen: Sequence[str]
) -> list[AssetPart]:
    """List the materialized parts of an asset, in the order of its partitions.

    `chosen` are partitions, or parts of their keys, of which all others are left out; empty: all.
    """
    if not sources.graph.get(key).is_partitioned:
        event = sources.instance.get_latest_materialization_event(key)
        return [] if event is None else [(key, None)]
    materialized = sources.instance.get_materialized_partitions(key)
    return [
        (key, name)
        for name in _list_keys(sources, key)
        if name in materialized and (not chosen or any(_overlaps(name, part) for part in chosen))
    ]


def list_partitions(parts: Iterable[AssetPart]) -> list[str]:
    """List the partitions of parts, each once, in order."""
    return list(dict.fromkeys(partition for _, partition in parts if partition is not None))


def _list_keys(sources: ReleaseSources, key: AssetKey) -> list[str]:
    partitions_def = sources.graph.get(key).partitions_def
    if partitions_def is None:
        return []
    return list(partitions_def.get_partition_keys(dynamic_partitions_store=sources.instance))


def _overlaps(partition: str, name: str) -> bool:
    """Return whether one key has all parts of the other: "sketch|animals" has "animals"."""
    sides = set(partition.split("|")), set(name.split("|"))
    return sides[0] <= sides[1] or sides[1] <= sides[0]


def _names(keys: Iterable[AssetKey]) -> list[str]:
    return list(dict.fromkeys(key.to_user_string() for key in keys))


def _join(keys: Iterable[AssetKey]) -> str:
    return ", ".join(_names(keys))
