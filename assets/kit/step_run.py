"""Inputs of a step, and a run of it over a partition."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from logging import Logger
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import pandas as pd
from dagster import AssetKey, Config

from assets.kit.columns import Columns, to_records
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.streamed_tables import StoredTable, require_columns
from resources.storage.work_cache import WorkCache

Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Sequence[dict[str, Any]]
ConfigT = TypeVar("ConfigT", bound=Config)


class Input(NamedTuple):
    """A table that a step reads.

    `dimension` names that of the step's two partition dimensions by which the table is divided,
    where it is divided by one alone. `columns` are those that are read; all by default. A plan
    foresees the table where it is planned as well; with `uses_default_config`, as its step makes it
    without config, where it is not there yet and nobody plans it. One that `is_optional` is read
    without rows where it is not there.
    """

    asset: AssetKey
    dimension: str | None = None
    columns: Sequence[str] | None = None
    row_columns: Columns | None = None
    """The columns by which `StepRun.read_rows` types the rows of the table."""
    uses_default_config: bool = False
    is_optional: bool = False
    streamed_columns: Columns | None = None
    """In place of `row_columns` for a table that may be large: `StepRun.iterate_rows` reads it."""

    def require(self, table: pd.DataFrame) -> None:
        """Raise `CorruptItem` where its table lacks a column that is read."""
        typed, name = self.row_columns or self.streamed_columns, self.asset.to_user_string()
        needed = typed.columns if typed else self.columns or ()
        remedy = f"Materialize {name} again, with what it is made from."
        require_columns(f"of {name}", needed, table, remedy)

    @property
    def selected_columns(self) -> Sequence[str] | None:
        """The columns that are read; None for all."""
        if self.is_optional and self.columns is None and self.row_columns is not None:
            return list(self.row_columns.columns)
        return self.columns


def single_input(asset: str, columns: Columns, dimension: str | None = None) -> Mapping[str, Input]:
    """Build the inputs of a step that reads the table of one asset, as the input "upstream"."""
    key = AssetKey.from_user_string(asset)
    return MappingProxyType({"upstream": Input(key, dimension, row_columns=columns)})


@dataclass(frozen=True)
class StepRun(Generic[ConfigT]):
    """A run over a partition of a step: its config, and what it reads.

    `tables` are by input name. `find_table` gives the table of another asset and partition; in a
    plan as it is foreseen, and None where there is none.
    """

    partition: str
    config: ConfigT
    tables: Mapping[str, pd.DataFrame]
    inputs: Mapping[str, Input]
    home: DataRoot
    images: ImageStore
    work_cache: WorkCache
    log: Logger
    find_table: Callable[[AssetKey, str], pd.DataFrame | None]
    stored_tables: Mapping[str, StoredTable] = field(default_factory=dict)
    """Stored tables by input name, for inputs with `streamed_columns`."""

    def read_rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of an input, None where a cell is empty.

        Raises `CorruptItem` for a table that lacks a column.
        """
        input_spec, table = self.inputs[name], self.tables[name]
        if input_spec.row_columns is None:
            return to_records(table)
        input_spec.require(table)
        return input_spec.row_columns.read_rows(table, input_spec.asset)

    def iterate_rows(self, name: str, *names: str) -> Iterator[dict[str, Any]]:
        """The rows of an input with `streamed_columns`, or some columns of them."""
        columns = self.inputs[name].streamed_columns
        assert columns is not None, f"{name} has no streamed_columns."
        return columns.iterate_rows(self.stored_tables[name], *names)
