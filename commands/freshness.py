"""Staleness of assets: the ones to materialize again.

A partition of an asset is up to date where Dagster says so, going by the versions of its code and
data; where the run that made it has succeeded, with the same settings and edited files; and where
its table and the pictures that it names are there and whole.
"""

import os
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from hashlib import sha256
from typing import Any

import pyarrow.parquet as pq
from dagster import (
    AssetKey,
    AssetRecordsFilter,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventLogRecord,
)
from upath import UPath

from resources.execution.dagster_internals import AssetGraph, Staleness
from resources.storage.atomic_writes import FilePath
from resources.storage.file_batches import read_files
from resources.storage.files import is_stored, list_files, open_address, open_file
from resources.storage.image_store import ImageStore

INPUTS_TAG = "counterfactory/inputs"
"""The tag of a run that says what it was made from, of what is not in the graph."""
_EDITED = (".csv", ".json", ".yaml", ".yml")
_PICTURES = "sha256"
"""The column of a table that names pictures."""


def digest_inputs(root: UPath, *edited: FilePath) -> str:
    """Digest what assets read that is neither an asset nor code: settings and edited files.

    `root` is the data root, in which reviews lie; `edited` are other files.
    """
    files = (path for path in (*list_files(root / "reviews"), *edited) if path.suffix in _EDITED)
    contents = read_files(dict.fromkeys(files))
    lines = sorted(f"{path} {sha256(data).hexdigest()}" for path, data in contents.items())
    lines += sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("COUNTERFACTORY_"))
    return sha256("\n".join(lines).encode()).hexdigest()


class Freshness:
    """Tells which assets have to be materialized again; remembers runs and pictures it has seen.

    `inputs` gives the hash of what is not in the graph, as it is at the moment.
    """

    def __init__(
        self,
        instance: DagsterInstance,
        graph: AssetGraph,
        images: ImageStore,
        inputs: Callable[[], str],
    ) -> None:
        self._instance, self._graph, self._images = instance, graph, images
        self._inputs, self._before = inputs, inputs()
        self._runs: dict[str, DagsterRun | None] = {}
        self._is_intact: dict[str, bool] = {}
        self.current_run_ids: set[str] = set()
        """The runs by which anything was made that is up to date."""

    def find_stale(
        self, keys: Sequence[AssetKey], partition: str | None, config: Mapping[str, Any]
    ) -> list[AssetKey]:
        """Return the assets that such a run would change, parents first."""
        staleness = Staleness(self._instance, self._graph)
        stale: list[AssetKey] = []
        for key in sorted(keys, key=self._order.__getitem__):
            node = self._graph.get(key)
            part = partition if node.is_partitioned else None
            fresh = (
                not node.parent_keys & set(stale)
                and staleness.is_fresh(key, part)
                and self._is_made_so(key, part, config)
            )
            if not fresh:
                stale.append(key)
        return stale

    def confirm(self) -> None:
        """Note that all that is up to date is so with the inputs of now.

        Steps write reviews themselves, for people to edit: only now is it known what they left.
        """
        digest = self._inputs()
        if digest == self._before:
            return
        for run_id in self.current_run_ids:
            self._instance.add_run_tags(run_id, {INPUTS_TAG: digest})

    @property
    def tags(self) -> dict[str, str]:
        """Tags for a run about to start."""
        return {INPUTS_TAG: self._before}

    @cached_property
    def _order(self) -> Mapping[AssetKey, int]:
        return {key: place for place, key in enumerate(self._graph.toposorted_asset_keys)}

    def _is_made_so(self, key: AssetKey, partition: str | None, config: Mapping[str, Any]) -> bool:
        record_filter = AssetRecordsFilter(
            key, asset_partitions=None if partition is None else [partition]
        )
        (record,) = self._instance.fetch_materializations(record_filter, limit=1).records
        run = self._run(record.run_id)
        if run is None or run.status != DagsterRunStatus.SUCCESS or run.run_config != config:
            return False
        if run.tags.get(INPUTS_TAG) != self._before or not self._is_there(record):
            return False
        self.current_run_ids.add(record.run_id)
        return True

    def _run(self, run_id: str) -> DagsterRun | None:
        if run_id not in self._runs:
            self._runs[run_id] = self._instance.get_run_by_id(run_id)
        return self._runs[run_id]

    def _is_there(self, record: EventLogRecord) -> bool:
        """Return whether the materialized file exists, with the pictures that it names."""
        materialization = record.asset_materialization
        if materialization is None:
            return False
        path = open_address(str(materialization.metadata["path"].value))
        if path.suffix != ".parquet":
            return is_stored(path)
        pictures = _read_pictures(path)
        return pictures is not None and self._are_intact(pictures)

    def _are_intact(self, digests: Set[str]) -> bool:
        unseen = digests - self._is_intact.keys()
        damaged = self._images.find_damaged(unseen)
        self._is_intact |= {digest: digest not in damaged for digest in unseen}
        return all(self._is_intact[digest] for digest in digests)


def _read_pictures(table: UPath) -> set[str] | None:
    """The pictures that a table names; None where it cannot be read."""
    try:
        with open_file(table) as source:
            file = pq.ParquetFile(source, page_checksum_verification=True)
            if _PICTURES not in file.schema_arrow.names:
                return set()
            names = file.read([_PICTURES])[_PICTURES].to_pylist()
    except (OSError, ValueError):
        return None
    return set(filter(None, names))
