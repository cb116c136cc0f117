"""A table of all judges' numbers, from their answers to a step, as a benchmark declares it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from dagster import AssetKey, AssetsDefinition, MaterializeResult

from assets.kit.columns import Columns, to_materialize_result
from assets.kit.judging import LimitedJudgeStep
from assets.kit.previews import markdown_table
from assets.kit.table_asset import NotMaterialized, TablesMismatch, table_asset
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot
from resources.storage.streamed_tables import require_columns

ALL = "all"
"""The value of `AnswerResults.scope_column` in the row of a judge over everything."""


class JudgedItems(NamedTuple):
    """The rows that a step asks about in all partitions, and the answers of all judges."""

    items: pd.DataFrame
    answers: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class AnswerResults:
    """The table of all judges' numbers, from their answers to a step."""

    key: AssetKey
    description: str
    columns: Columns
    """Its columns, among them `model`, the judge."""
    scope_column: str
    """The column that says what a row is about."""
    shown_columns: Sequence[str]
    """The columns on Dagster's page, of the rows over everything."""
    step: type[LimitedJudgeStep]
    """The step that asks the judges about the rows of its input."""
    matched_columns: Sequence[str]
    """The columns by which an answer is about a row of the input as it is now."""
    readable_column: str
    """The column of the answers that has a value if the reply can be read."""
    measure: Callable[[JudgedItems], pd.DataFrame]
    """Computes the rows."""
    select_items: Callable[[pd.DataFrame], pd.DataFrame] = lambda items: items
    """Selects the rows of the input that judges are asked about."""

    @property
    def name(self) -> str:
        """The name of its asset, without the benchmark's."""
        return self.key.path[-1]

    def build_asset(self, judges: Sequence[Model]) -> AssetsDefinition:
        """Build the asset over these judges."""

        @table_asset(
            self.key.path[0],
            key=self.key,
            columns=self.columns,
            partitions=None,
            deps=[self._items_key, *map(self._name_answers, judges)],
            description=self.description,
        )
        def results(home: DataRoot) -> MaterializeResult[pa.Table]:
            """Compute the numbers of all answers that there are."""
            judged = self.load_answers(home, judges)
            table = self.measure(judged)
            totals = table.loc[table[self.scope_column].eq(ALL), [*self.shown_columns]]
            return to_materialize_result(
                self.columns.build_table(table),
                judged.answers,
                by_judge=markdown_table(totals.round(3)),
            )

        return results

    def list_partitions(self) -> Sequence[str | None]:
        """List the partitions of the step; None alone for a step without any."""
        partitions = self.step.asset.partitions
        return partitions.get_partition_keys() if partitions else [None]

    def load_answers(self, home: DataRoot, judges: Sequence[Model]) -> JudgedItems:
        """Load what was asked about, and the answers of all judges.

        Raises `NotMaterialized` without any answer, and `TablesMismatch` where a judge answered
        about other rows than there are now.
        """
        stored = {name: home.find(self._items_key, name) for name in self.list_partitions()}
        items = {
            name: self.select_items(table) for name, table in stored.items() if table is not None
        }
        answers = []
        for key in map(self._name_answers, judges):
            for partition in stored:
                table = home.find(key, partition)
                if table is not None:
                    self._require_current(table, key, partition, items.get(partition))
                    answers.append(table)
        if not answers:
            raise NotMaterialized(
                f"{self.key.to_user_string()}: no judge has answered yet. Materialize "
                f"{self.step.asset.key.to_user_string()}_… of a judge first."
            )
        return JudgedItems(pd.concat(items.values()), pd.concat(answers, ignore_index=True))

    def count_materialized(self, home: DataRoot) -> int:
        """Count the partitions whose rows to ask about are materialized."""
        return sum(home.holds(self._items_key, name) for name in self.list_partitions())

    @property
    def _items_key(self) -> AssetKey:
        return self.step.inputs["upstream"].asset

    def _name_answers(self, judge: Model) -> AssetKey:
        return self.step.asset.of_model(judge).key

    def _require_current(
        self, answers: pd.DataFrame, key: AssetKey, partition: str | None, items: Any
    ) -> None:
        suffix = f" ({partition})" if partition else ""
        name, source = (f"{asset.to_user_string()}{suffix}" for asset in (key, self._items_key))
        remedy = f"Materialize {name} again."
        require_columns(f"of {name}", self.step.table.columns.columns, answers, remedy)
        current, answered = (
            () if table is None else table[[*self.matched_columns]].astype(str).to_numpy().tolist()
            for table in (items, answers)
        )
        if not {*map(tuple, current)}.issuperset(map(tuple, answered)):
            raise TablesMismatch(
                f"{name} answers about other {self._items_key.path[-1]} than {source} holds now. "
                f"{remedy}"
            )
