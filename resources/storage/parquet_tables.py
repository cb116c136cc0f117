"""Tables as Parquet, one file per asset and partition."""

import io
from pathlib import Path
from typing import IO, Any

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

from resources.faults import write_errors
from resources.storage.atomic_writes import is_remote, open_atomically, write_atomically
from resources.storage.files import make_folder, open_address, open_file
from resources.storage.streamed_tables import (
    WRITE_OPTIONS,
    StoredTable,
    build_unreadable_error,
    require_columns,
)


def read_table(path: UPath, asset: str, columns: list[str] | None = None) -> pd.DataFrame:
    """Load the stored table of an asset, or some columns. Raises `CorruptItem`.

    Raises FileNotFoundError where there is none, which is what Dagster expects of a partition
    that was not materialized.
    """
    with _open(path, asset) as file:
        try:
            # Sooner than `pq.read_table`, which looks for a data set of several files.
            stored = pq.ParquetFile(file, page_checksum_verification=True)
            require_columns(path, columns or (), stored.schema_arrow.names, _remedy(path, asset))
            read = stored.read(columns)
            table: pd.DataFrame = (read.select(columns) if columns else read).to_pandas()
        except (pa.ArrowInvalid, OSError) as error:
            raise build_unreadable_error(path, error, _remedy(path, asset)) from error
    return table


def open_table(path: UPath, asset: str) -> StoredTable:
    """The stored table of an asset, to be read some rows at a time. Raises as `read_table`."""
    return StoredTable(_open(path, asset), str(path), _remedy(path, asset))


def _open(path: UPath, asset: str) -> IO[bytes]:
    """The file of a table; from an object store it is taken whole, in one request."""
    try:
        return open_file(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"The table {path} is not there. {_remedy(path, asset)}") from error


def _remedy(path: UPath, asset: str) -> str:
    return f"Materialize {asset} ({path.stem}) again."


class MultiplePartitions(ValueError):
    """A run needs several partitions at once of an asset that takes one."""


class _Parquet(UPathIOManager):
    extension = ".parquet"

    def make_directory(self, path: UPath) -> None:
        """Make a folder, where there are folders."""
        make_folder(path)

    def _handle_transition_to_partitioned_asset(self, context: OutputContext, path: UPath) -> None:
        """Do nothing: a table without partitions is a file of another name."""

    def dump_to_path(
        self, context: OutputContext, obj: pa.Table | StoredTable, path: UPath
    ) -> None:
        if is_remote(path):
            buffer = io.BytesIO()
            _write(obj, buffer)
            write_atomically(path, buffer.getvalue())
            return
        with write_errors(path), open_atomically(Path(path.path)) as file:
            _write(obj, file)

    def load_input(self, context: InputContext) -> Any:
        """The table that an asset needs, or those of all partitions for one that takes a dict.

        Raises `MultiplePartitions` where there are several for one that takes a table.
        """
        takes_one = context.dagster_type.typing_type in (pd.DataFrame, StoredTable)
        if takes_one and context.has_asset_partitions and len(context.asset_partition_keys) > 1:
            raise MultiplePartitions(
                f"This run needs {len(context.asset_partition_keys)} partitions of "
                f"{context.asset_key.to_user_string()} at once. Launch it as multiple runs, one "
                "per partition. Nothing was sent or drawn."
            )
        return super().load_input(context)

    def load_from_path(self, context: InputContext, path: UPath) -> pd.DataFrame | StoredTable:
        """The table, or the columns that the input's metadata names; a `StoredTable` has them all.

        One that is missing has no rows, where the metadata say that it is optional.
        """
        metadata = context.definition_metadata or {}
        columns = metadata.get("columns")
        asset = context.asset_key.to_user_string()
        is_streamed = context.dagster_type.typing_type is StoredTable
        try:
            return open_table(path, asset) if is_streamed else read_table(path, asset, columns)
        except FileNotFoundError:
            if not metadata.get("optional"):
                raise
        return (
            StoredTable.from_arrow(pa.table({})) if is_streamed else pd.DataFrame(columns=columns)
        )

    def get_metadata(
        self, context: OutputContext, obj: pa.Table | StoredTable
    ) -> dict[str, MetadataValue]:
        return {"dagster/row_count": MetadataValue.int(obj.num_rows)}


def _write(table: pa.Table | StoredTable, file: IO[bytes]) -> None:
    if isinstance(table, StoredTable):
        table.copy_to(file)
    else:
        pq.write_table(table, file, **WRITE_OPTIONS)


class ParquetTables(ConfigurableIOManagerFactory[_Parquet]):
    """Keeps an asset's table at `<root>/<asset key>/<partition>.parquet`.

    It is a `pyarrow.Table`, or a `StoredTable` where it was written some rows at a time. It is read
    back as a `pandas.DataFrame`; an input whose metadata names `columns` gets those alone, and
    nothing else of the file is decoded. An input that is typed as `StoredTable` is opened alone.
    """

    root: str

    def create_io_manager(self, context: object) -> _Parquet:
        """The manager for one run."""
        return _Parquet(open_address(self.root))
