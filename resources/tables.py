"""Tables as Parquet, one file an asset and partition."""

import io
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from dagster import (
    ConfigurableIOManagerFactory,
    InputContext,
    MetadataValue,
    OutputContext,
    UPathIOManager,
)
from upath import UPath

from resources.atomic_writes import write_whole
from resources.faults import Corrupt


def read_table(path: UPath, asset: str, columns: list[str] | None = None) -> pd.DataFrame:
    """The stored table of an asset, or those of its columns. Raises `Corrupt`.

    Raises FileNotFoundError where there is none, which is what Dagster expects of a partition
    that was not materialized.
    """
    remedy = f"Materialize {asset} ({path.stem}) again."
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise FileNotFoundError(f"The table {path} is not there. {remedy}") from error
    try:
        table: pd.DataFrame = pq.read_table(
            io.BytesIO(data), columns=columns, page_checksum_verification=True
        ).to_pandas()
    except (pa.ArrowInvalid, OSError) as error:
        raise Corrupt(f"The table {path} cannot be read ({error}). {remedy}") from error
    return table


class SeveralPartitions(ValueError):
    """A run is to make several partitions at once of an asset that makes one."""


class _Parquet(UPathIOManager):
    extension = ".parquet"

    def dump_to_path(self, context: OutputContext, obj: pa.Table, path: UPath) -> None:
        buffer = io.BytesIO()
        pq.write_table(obj, buffer, compression="zstd", write_page_checksum=True)
        write_whole(path, buffer.getvalue())

    def load_input(self, context: InputContext) -> Any:
        """The table that an asset needs, or those of all partitions for one that takes a dict.

        Raises `SeveralPartitions` where there are several for one that takes a table.
        """
        takes_one = context.dagster_type.typing_type is pd.DataFrame
        if takes_one and context.has_asset_partitions and len(context.asset_partition_keys) > 1:
            raise SeveralPartitions(
                f"This run needs {len(context.asset_partition_keys)} partitions of "
                f"{context.asset_key.to_user_string()} at once. Launch it as multiple runs, one "
                "per partition. Nothing was asked or drawn."
            )
        return super().load_input(context)

    def load_from_path(self, context: InputContext, path: UPath) -> pd.DataFrame:
        """The table, or the columns that the input's metadata names.

        One that is missing has no rows, where the metadata say that it is optional.
        """
        metadata = context.definition_metadata or {}
        wanted = metadata.get("columns")
        if metadata.get("optional") and not path.exists():
            return pd.DataFrame(columns=wanted)
        return read_table(path, context.asset_key.to_user_string(), wanted)

    def get_metadata(self, context: OutputContext, obj: pa.Table) -> dict[str, MetadataValue]:
        return {"dagster/row_count": MetadataValue.int(obj.num_rows)}


class ParquetTables(ConfigurableIOManagerFactory[_Parquet]):
    """Keeps an asset's `pyarrow.Table` at `<root>/<asset key>/<partition>.parquet`.

    A table is read back as a `pandas.DataFrame`; an input whose metadata names `columns` gets
    those alone, and nothing else of the file is decoded.
    """

    root: str

    def create_io_manager(self, context: object) -> _Parquet:
        """The manager for one run."""
        return _Parquet(UPath(self.root))
