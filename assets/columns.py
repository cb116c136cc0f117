"""Tables of assets: columns named, typed and described once, next to who makes them."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import DataVersion, MaterializeResult, TableColumn, TableSchema

TEXT, REAL, WHOLE = pa.string(), pa.float64(), pa.int64()
TEXTS, REALS = pa.list_(TEXT), pa.list_(REAL)


class Columns:
    """The columns of one asset's table, each with an Arrow type and a description."""

    def __init__(self, **columns: tuple[pa.DataType, str]) -> None:
        self.columns = columns
        self.schema = pa.schema([pa.field(name, kind) for name, (kind, _) in columns.items()])

    def described(self) -> dict[str, TableSchema]:
        """The asset's static metadata: what Dagster shows as its columns."""
        return {
            "dagster/column_schema": TableSchema(
                [
                    TableColumn(name, str(kind), description)
                    for name, (kind, description) in self.columns.items()
                ]
            )
        }

    def table(self, rows: pd.DataFrame | Sequence[Mapping[str, Any]]) -> pa.Table:
        """Rows as an Arrow table of exactly these columns and types."""
        if isinstance(rows, pd.DataFrame):
            return pa.Table.from_pandas(rows, schema=self.schema, preserve_index=False)
        return pa.Table.from_pylist(list(rows), schema=self.schema)


def materialized(table: pa.Table, **metadata: Any) -> MaterializeResult[pa.Table]:
    """A table as an asset's result; its data version is a hash of its contents.

    Two runs that give the same rows give the same version, so what is downstream stays fresh.
    """
    contents = pa.BufferOutputStream()
    with pa.ipc.new_stream(contents, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    version = DataVersion(sha256(contents.getvalue()).hexdigest())
    return MaterializeResult(value=table, data_version=version, metadata=metadata)


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries by column name."""
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
