"""The data root, for assets that reach beyond their inputs."""

import pandas as pd
from dagster import AssetKey, ConfigurableResource
from upath import UPath

from resources.tables import read_table


class Home(ConfigurableResource[None]):
    """The folder in which tables, reports and the ledger lie."""

    root: str

    def table(
        self, asset: AssetKey, partition: str | None = None, columns: list[str] | None = None
    ) -> pd.DataFrame:
        """What `ParquetTables` stored last of a partition, or some columns of it.

        `partition` is a key as Dagster has it ("animals|sketch"), None for an asset without
        partitions. Raises `Corrupt`, or FileNotFoundError where there is none.
        """
        parts = [*asset.path, *([] if partition is None else partition.split("|"))]
        *folders, name = parts
        path = UPath(self.root).joinpath(*folders) / f"{name}.parquet"
        return read_table(path, asset.to_user_string(), columns)

    def find(
        self, asset: AssetKey, partition: str | None = None, columns: list[str] | None = None
    ) -> pd.DataFrame | None:
        """As `table`, None where there is none."""
        try:
            return self.table(asset, partition, columns)
        except FileNotFoundError:
            return None
