"""The stored calls behind the selected assets and everything upstream."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import pandas as pd
from dagster import AssetKey, AssetSelection, DagsterError, Definitions
from upath import UPath

from assets.kit.benchmarks import build_steps, load_benchmarks
from assets.kit.verdicts import panel_files
from generators.name_suggestions import suggest_names
from resources.faults import StoreError
from resources.models.catalog import Catalog
from resources.storage.files import is_stored, list_files, read_file
from resources.storage.parquet_tables import read_table


class NothingSelected(StoreError):
    """A selection rests on no calls."""


class UpstreamCalls(NamedTuple):
    """Sources behind a selection: keys of calls, review files by name, and a count of failed rows.

    A failed row has no stored answer, so that a new run of the tables sends its request again.
    """

    keys: set[str]
    reviews: dict[str, bytes]
    failed: int


def find_upstream_calls(
    definitions: Definitions,
    catalog: Catalog,
    selection: str,
    root: UPath,
    partitions: Sequence[str] = (),
) -> UpstreamCalls:
    """The calls that stand in tables of the selected assets and of everything upstream of them.

    `selection` is Dagster's, as in `vlmbias/accuracy` or `group:vlmbias`. With `partitions`, only
    their tables count, and those of parts of them ("sketch|animals" has tables by topic upstream).
    Raises `NothingSelected`, and `CorruptItem` for a table that cannot be read.
    """
    graph = definitions.resolve_asset_graph()
    try:
        selected = AssetSelection.from_string(selection).upstream().resolve(graph)
    except DagsterError as error:
        asset_names = sorted(key.to_user_string() for key in graph.get_all_asset_keys())
        is_name = re.fullmatch(r"[\w/]+", selection)
        among = f"{suggest_names(selection, asset_names)}." if is_name else f": {error}"
        raise NothingSelected(f"{selection!r} selects no assets{among}") from None
    columns = find_call_columns(catalog)
    keys, failed, chosen = (
        set[str](),
        0,
        [frozenset(partition.split("|")) for partition in partitions],
    )
    for asset, path in _tables(root, selected, graph.get_all_asset_keys(), chosen):
        named, without = collect_calls(read_table(path, asset.to_user_string()), columns)
        keys |= named
        failed += without
    if not keys:
        partition_note = f" ({', '.join(partitions)})" if partitions else ""
        raise NothingSelected(
            f"No stored answer is behind {selection}{partition_note}: its tables are not there "
            "yet, or name no calls, as those of stand-in judges. Materialize it "
            "first, or select others, as in vlmbias/accuracy."
        )
    return UpstreamCalls(keys, _reviews(root, selected, chosen), failed)


def find_call_columns(catalog: Catalog) -> dict[str, str]:
    """The columns that name stored calls, each with that of how they ended."""
    return {
        step.table.calls_column: step.table.outcome_column for step in build_steps(catalog).values()
    }


def collect_calls(table: pd.DataFrame, columns: Mapping[str, str]) -> tuple[set[str], int]:
    """The keys of all calls that a table names, and how many of its calls have failed."""
    present_columns = {calls: outcome for calls, outcome in columns.items() if calls in table}
    keys = {
        key for calls in present_columns for row in table[calls] if row is not None for key in row
    }
    failed = [
        (table[outcome] == "failed").sum()
        for outcome in present_columns.values()
        if outcome in table
    ]
    return keys, int(sum(failed))


def _tables(
    root: UPath, selected: Set[AssetKey], all_keys: Set[AssetKey], chosen: Sequence[frozenset[str]]
) -> Iterator[tuple[AssetKey, UPath]]:
    """The stored tables of assets, by asset."""
    keys_by_folder = {root.joinpath(*key.path): key for key in all_keys}
    for group in sorted({key.path[0] for key in selected}):
        for path in list_files(root / group):
            place = path.with_suffix("")
            folders = [folder for folder in (place, *place.parents) if folder in keys_by_folder]
            if path.suffix != ".parquet" or not folders:
                continue
            key, path_parts = keys_by_folder[folders[0]], {*place.relative_to(folders[0]).parts}
            is_chosen = not chosen or any(
                path_parts <= chosen_parts or chosen_parts <= path_parts for chosen_parts in chosen
            )
            if key in selected and is_chosen:
                yield key, path


def _reviews(
    root: UPath, selected: Set[AssetKey], chosen: Sequence[frozenset[str]]
) -> dict[str, bytes]:
    """The review files that the selected assets follow, by name."""
    names = [
        name
        for benchmark in load_benchmarks().values()
        for asset, reviews in benchmark.review_files.items()
        if AssetKey([benchmark.name, asset]) in selected
        for partition, name in reviews.items()
        if not chosen or any(partition in chosen_parts for chosen_parts in chosen)
    ]
    files = {name: root / "reviews" / f"{name}.csv" for name in names}
    files |= _panels(root / "reviews", selected, chosen)
    return {name: read_file(file) for name, file in files.items() if is_stored(file)}


def _panels(
    reviews: UPath, selected: Set[AssetKey], chosen: Sequence[frozenset[str]]
) -> dict[str, UPath]:
    """The annotators' files that the selected assets follow, by name."""
    files = {}
    for name, benchmark in load_benchmarks().items():
        if not any(AssetKey([name, asset]) in selected for asset in benchmark.panel_assets):
            continue
        folders = {file.parent for file in list_files(reviews / name)}
        for folder in sorted(path for path in folders if path.parent.parent == reviews / name):
            if not chosen or any(folder.parent.name in chosen_parts for chosen_parts in chosen):
                for file in panel_files(folder):
                    files[file.relative_to(reviews).with_suffix("").as_posix()] = file
    return files
