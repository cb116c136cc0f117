"""The data root, for assets that reach beyond their inputs."""

import pandas as pd
from dagster import AssetKey, ConfigurableResource
from upath import UPath

from resources.tables import read_table


class Home(ConfigurableResource[None]):
    """The folder in which tables, reports and the ledger lie."""

    root: str

    def table(
        self, asset: AssetKey, partition: str, columns: list[str] | None = None
    ) -> pd.DataFrame:
        """What `ParquetTables` stored last, or some columns of it.

        Raises `Corrupt`, or FileNotFoundError where there is none.
        """
        path = UPath(self.root).joinpath(*asset.path) / f"{partition}.parquet"
        return read_table(path, asset.to_user_string(), columns)
