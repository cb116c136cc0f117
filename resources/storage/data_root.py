"""The data root, for assets that reach beyond their inputs."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime

import pandas as pd
from dagster import AssetKey, ConfigurableResource
from upath import UPath

from resources.storage.parquet_tables import read_table


class DataRoot(ConfigurableResource[None]):
    """The folder in which tables, reports and the ledger lie."""

    root: str

    def table(
        self, asset: AssetKey, partition: str | None = None, columns: list[str] | None = None
    ) -> pd.DataFrame:
        """What `ParquetTables` stored last of a partition, or some columns of it.

        `partition` is a key as Dagster has it ("animals|sketch"), None for an asset without
        partitions. Raises `Corrupt`, or FileNotFoundError where there is none.
        """
        return read_table(self._path(asset, partition), asset.to_user_string(), columns)

    def find(
        self, asset: AssetKey, partition: str | None = None, columns: list[str] | None = None
    ) -> pd.DataFrame | None:
        """As `table`, None where there is none."""
        try:
            return self.table(asset, partition, columns)
        except FileNotFoundError:
            return None

    def find_latest_date(
        self, asset: AssetKey, partitions: Iterable[str | None] = (None,)
    ) -> date | None:
        """The day, in UTC, on which the latest of some partitions was stored; None without any."""
        found = []
        for partition in partitions:
            with suppress(FileNotFoundError):
                found.append(self._path(asset, partition).stat().st_mtime)
        return datetime.fromtimestamp(max(found), UTC).date() if found else None

    def holds(self, asset: AssetKey, partition: str | None = None) -> bool:
        """Whether there is a table of a partition."""
        return self._path(asset, partition).exists()

    def _path(self, asset: AssetKey, partition: str | None) -> UPath:
        parts = [*asset.path, *([] if partition is None else partition.split("|"))]
        *folders, name = parts
        return UPath(self.root).joinpath(*folders) / f"{name}.parquet"
