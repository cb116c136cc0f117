"""The data root, for assets that reach beyond their inputs."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import date

import pandas as pd
from dagster import AssetKey, ConfigurableResource
from upath import UPath

from resources.storage.files import find_modified_time, is_stored, open_address
from resources.storage.parquet_tables import open_table, read_table
from resources.storage.streamed_tables import StoredTable


class DataRoot(ConfigurableResource[None]):
    """The folder of tables, reports and people's files, or its address in an object store."""

    root: str

    def path(self, *parts: str) -> UPath:
        """Return the path of a file or folder below it."""
        return open_address(self.root).joinpath(*parts)

    def table(
        self, asset: AssetKey, partition: str | None = None, columns: list[str] | None = None
    ) -> pd.DataFrame:
        """Load the stored table of a partition, or some of its columns.

        `partition` is a key as Dagster has it ("animals|sketch"), None for an asset without
        partitions. Raises `CorruptItem`, or FileNotFoundError where there is none.
        """
        return read_table(self._path(asset, partition), asset.to_user_string(), columns)

    def open_table(self, asset: AssetKey, partition: str | None = None) -> StoredTable:
        """Open a table to read it some rows at a time; raises as `table`."""
        return open_table(self._path(asset, partition), asset.to_user_string())

    def find(
        self, asset: AssetKey, partition: str | None = None, columns: list[str] | None = None
    ) -> pd.DataFrame | None:
        """Load a table as `table` does; None where there is none."""
        try:
            return self.table(asset, partition, columns)
        except FileNotFoundError:
            return None

    def find_latest_date(
        self, asset: AssetKey, partitions: Iterable[str | None] = (None,)
    ) -> date | None:
        """The day, in UTC, when the latest of the partitions was stored; None without any."""
        timestamps = []
        for partition in partitions:
            with suppress(FileNotFoundError):
                timestamps.append(find_modified_time(self._path(asset, partition)))
        return max(timestamps).date() if timestamps else None

    def holds(self, asset: AssetKey, partition: str | None = None) -> bool:
        """True where a partition has a table."""
        return is_stored(self._path(asset, partition))

    def _path(self, asset: AssetKey, partition: str | None) -> UPath:
        parts = [*asset.path, *([] if partition is None else partition.split("|"))]
        *folders, name = parts
        return self.path(*folders, f"{name}.parquet")
