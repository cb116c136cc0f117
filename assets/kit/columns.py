"""Tables of assets: columns named, typed and described once, next to who makes them."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, TypeAlias, overload

import pandas as pd
import pyarrow as pa
from dagster import AssetKey, DataVersion, MaterializeResult, TableColumn, TableSchema

from generators.name_suggestions import find_similar
from resources.storage.streamed_tables import StoredTable, require_columns

TEXT, REAL, WHOLE, BOOLEAN = pa.string(), pa.float64(), pa.int64(), pa.bool_()
TEXTS, REALS = pa.list_(TEXT), pa.list_(REAL)
IS_STAND_IN = "is_stand_in"
"""The column of tables that say whether a stand-in had a part in a row."""


class Columns:
    """The columns of one asset's table, each with an Arrow type and a description."""

    def __init__(self, **columns: tuple[pa.DataType, str]) -> None:
        if columns.get(IS_STAND_IN, (BOOLEAN, ""))[0] != BOOLEAN:
            raise ValueError(
                f"Column `{IS_STAND_IN}`: every table's mark of stand-ins has this name, and is a "
                "BOOLEAN. Give yours another name."
            )
        self.columns = columns
        self.schema = pa.schema([pa.field(name, kind) for name, (kind, _) in columns.items()])

    def subset(self, *names: str) -> dict[str, tuple[pa.DataType, str]]:
        """Return the named columns, for another table that has them as well."""
        return {name: self.columns[name] for name in names}

    def dagster_metadata(self) -> dict[str, TableSchema]:
        """The asset's static metadata: what Dagster shows as its columns."""
        columns = [
            TableColumn(name, str(kind), description)
            for name, (kind, description) in self.columns.items()
        ]
        return {"dagster/column_schema": TableSchema(columns)}

    def build_table(
        self, rows: pd.DataFrame | Sequence[Mapping[str, Any]], unstored_keys: Collection[str] = ()
    ) -> pa.Table:
        """Build an Arrow table of exactly these columns and types; an absent key is an empty cell.

        A data frame may have further columns. Raises `ValueError` if rows have a key that is
        neither a column nor among `unstored_keys`.
        """
        if isinstance(rows, pd.DataFrame):
            return pa.Table.from_pandas(rows, schema=self.schema, preserve_index=False)
        keys: set[str] = set().union(*rows)
        if unknown_keys := keys - self.columns.keys() - {*unstored_keys}:
            raise ValueError(self._describe_unknown_keys(sorted(unknown_keys)))
        return pa.Table.from_pylist(list(rows), schema=self.schema)

    def _describe_unknown_keys(self, keys: Iterable[str]) -> str:
        similar = {key: find_similar(key, self.columns) for key in keys}
        described = (
            f"`{key}`" + "".join(f" (the nearest column is `{name}`)" for name in names)
            for key, names in similar.items()
        )
        return (
            f"Rows have keys that are no columns: {', '.join(described)}. Columns of the table: "
            f"{', '.join(self.columns)}. Correct the key, or declare it as a column."
        )

    def read_rows(self, table: pd.DataFrame, asset: AssetKey) -> list[dict[str, Any]]:
        """The rows of an asset's stored table as plain values, None where there is none.

        Raises `CorruptItem` where it lacks a column.
        """
        name = asset.to_user_string()
        require_columns(f"of {name}", self.columns, table, f"Materialize {name} again.")
        rows: list[dict[str, Any]] = self.build_table(table).to_pylist()
        return rows

    def iterate_rows(self, table: StoredTable, *names: str) -> Iterator[dict[str, Any]]:
        """The rows one after the other, or some columns of them."""
        chosen = [self.schema.field(name) for name in names or self.columns]
        chosen_names = [field.name for field in chosen]
        table.require(chosen_names)
        for portion in table.portions(chosen_names):
            yield from portion.select(chosen_names).cast(pa.schema(chosen)).to_pylist()


def interval_columns(name: str, description: str, over: str) -> dict[str, tuple[pa.DataType, str]]:
    """The columns of a number and of its interval; `over` says what is resampled."""
    return {
        name: (REAL, description),
        f"{name}_low": (REAL, f"Low end of its 95 % interval, by a bootstrap over {over}"),
        f"{name}_high": (REAL, "High end of its 95 % interval"),
    }


class TableRows(Sequence[Mapping[str, Any]]):
    """The rows of a stored table, read as they are looked at: many take little memory."""

    def __init__(self, table: StoredTable) -> None:
        self.table = table

    def __len__(self) -> int:
        return self.table.num_rows

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self.table.row(place) for place in places]
        return self.table.row(places)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self.table.rows()


def select_values(rows: Iterable[Mapping[str, Any]], *names: str) -> Iterator[tuple[Any, ...]]:
    """Select the named columns of each row; reads no other column of a stored table."""
    picked = rows.table.rows(names) if isinstance(rows, TableRows) else rows
    return (tuple(row.get(name) for name in names) for row in picked)


def to_frame(rows: Sequence[Mapping[str, Any]], *names: str) -> pd.DataFrame:
    """Convert the named columns to a data frame; texts of a stored table become categories."""
    if not isinstance(rows, TableRows):
        return pd.DataFrame(select_values(rows, *names), columns=list(names))
    texts = [name for name in names if rows.table.schema.field(name).type == TEXT]
    return rows.table.to_frame(names, texts)


def to_materialize_result(
    table: pa.Table | StoredTable, *shown_tables: pd.DataFrame, **metadata: Any
) -> MaterializeResult[Any]:
    """A table as an asset's result; its data version is a hash of its contents.

    Two runs that give the same rows give the same version, so what is downstream stays fresh.
    `shown_tables` are hashed too, in their order and with their columns: an asset that summarizes
    them needs no edge from each.
    """
    if isinstance(table, pa.Table):
        require_stand_in_marks(table)
    version = sha256(content_hash(table))
    for shown_table in shown_tables:
        version.update(content_hash(pa.Table.from_pandas(shown_table, preserve_index=False)))
    return MaterializeResult(
        value=table, data_version=DataVersion(version.hexdigest()), metadata=metadata
    )


def require_stand_in_marks(table: pa.Table) -> None:
    """Raise `ValueError` if `is_stand_in` is null in any row."""
    unsaid = table[IS_STAND_IN].null_count if IS_STAND_IN in table.column_names else 0
    if unsaid:
        raise ValueError(
            f"{unsaid:,} of {table.num_rows:,} rows do not say whether a stand-in took part "
            f"(column `{IS_STAND_IN}`): they would count as results, so nothing was stored. "
            "Materialize the inputs again; if that does not help, the code that makes the rows is "
            "wrong."
        )


class _Digest(io.RawIOBase):
    """A write-only file that hashes what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.sha256 = sha256()

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any) -> int:
        self.sha256.update(chunk)
        return len(chunk)


_ROWS_PER_HASH = 5_000
"""Number of rows of a stored table hashed at once: the digest depends on it."""


def content_hash(table: pa.Table | StoredTable) -> bytes:
    """A digest of a table's names, types and values.

    A stored table of many rows has another digest than the same table in memory.
    """
    portions = table.portions(size=_ROWS_PER_HASH) if isinstance(table, StoredTable) else [table]
    contents = _Digest()
    with pa.ipc.new_stream(contents, table.schema) as stream:
        for portion in portions:
            stream.write_table(portion.combine_chunks())
    return contents.sha256.digest()


def to_records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries by column name."""
    names = [str(name) for name in rows.columns]
    columns = [rows[name].tolist() for name in rows.columns]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def to_plain_records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Convert rows to dictionaries by column name, None for what is missing."""
    return to_records(rows.astype(object).where(rows.notna(), None))


NamedRow: TypeAlias = Any
"""A row of a table as a named tuple whose type is made of the table's columns."""


def iterate_named_rows(frame: pd.DataFrame) -> Iterator[NamedRow]:
    """The rows of a table as named tuples, None for what is missing."""
    return frame.astype(object).where(frame.notna(), None).itertuples(index=False, name="Row")
