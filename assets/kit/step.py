"""A step: a table made by asking models, one conversation a row.

A step says what its rows are, what is asked about each, and how the replies are read. Its asset,
checks, cost, plan for quotes and batches, and the calls behind each row follow from that:
`assets.kit.step_asset` makes the asset, `assets.kit.step_planner` the plan.

    class Captions(Step[Limited]):
        name, columns, config = "captions", CAPTIONS, Limited

        def model(self, partition, config):
            return chosen(self.catalog, config.captioner, "captioner")

        def rows(self, work):
            return [{"image_id": row["image_id"]} for row in work.rows("pictures")]

        def converse(self, work, row):
            reply = yield Look((Turn("user", "What is shown?", (row["sha256"],)),))
            return {"caption": text_of(reply.outcome), "calls": [*reply.calls]}
"""

from abc import ABC
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from logging import Logger
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import pandas as pd
from dagster import AssetCheckResult, AssetDep, AssetIn, AssetKey, Config, PartitionsDefinition

from assets.kit.columns import Columns, to_records
from assets.kit.plan import PaperSample
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome, Outcome
from resources.models.pricing import find_output_limit
from resources.models.requests import Request
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.streamed_tables import StoredTable, require_columns
from resources.storage.work_cache import WorkCache

Row: TypeAlias = Mapping[str, Any]
ConfigT = TypeVar("ConfigT", bound=Config)

PENDING = "pending"
"""The outcome of a row, in a plan alone, that depends on answers that are not there yet."""
PLACEHOLDER_SHA256 = "0" * 64
"""Stands, in a plan alone, for the sha256 of a picture that is not there yet."""


class StepReply(NamedTuple):
    """Outcome of a request, with the keys of the stored calls behind it."""

    outcome: Outcome
    calls: tuple[str, ...]


Conversation: TypeAlias = Generator[Request, StepReply, dict[str, Any]]
"""Yields requests, each once the one before has its reply; returns columns of its row."""


class NotCountable(Exception):
    """Requests of a step cannot be counted before the upstream asset named here is materialized."""


class UnfitAnswers(ValueError):
    """Answers of models cannot form a table; the message names the remedy."""


class OutdatedRow(ValueError):
    """A row depends on one that the tables upstream do not have, or not as it is now."""


class Input(NamedTuple):
    """A table that a step reads.

    `dimension` names that of the step's two partition dimensions by which the table is divided,
    where it is divided by one alone. `columns` are those that are read; all by default. A plan
    foresees the table where it is planned as well; with `by_default`, as its step makes it without
    config, where it is not there yet and nobody plans it. One that is `optional` is read without
    rows where it is not there.
    """

    asset: AssetKey
    dimension: str | None = None
    columns: Sequence[str] | None = None
    row_columns: Columns | None = None
    """The columns by which `Work.rows` types the rows of the table."""
    uses_default_config: bool = False
    is_optional: bool = False
    streamed_columns: Columns | None = None
    """In place of `read_by` for a table that may be large: `Work.each` reads some rows of it."""

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
    """The inputs of a step that reads one table, `upstream`: that of an asset, by its name."""
    key = AssetKey.from_user_string(asset)
    return MappingProxyType({"upstream": Input(key, dimension, row_columns=columns)})


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Count of items that a table covers, of a total: 20 of 2,736 questions."""

    count: int
    total: int
    unit: str


class StepSample(NamedTuple):
    """A sample, as in "6 of 2,000 concepts", and whether it is smaller than the paper's."""

    description: str
    is_trial: bool


@dataclass(frozen=True)
class StepRun(Generic[ConfigT]):
    """One partition of a step: its config, and what it reads.

    `tables` are by input name. `find` gives the table of another asset and partition; in a plan as
    it is foreseen, and None where there is none.
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
    """By input name: those that are read `by_row`."""

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
        """The rows of an input that is read `by_row`, or some columns of them."""
        columns = self.inputs[name].streamed_columns
        assert columns is not None, f"{name} is not read by row."
        return columns.iterate_rows(self.stored_tables[name], *names)


Problem = tuple[str, str]
"""A row's name, and what is wrong with it."""


class Check(NamedTuple):
    """A check of a step's table: `passes` gets the step's work and its finished rows."""

    name: str
    description: str
    passes: Callable[[Any, Sequence[Row]], AssetCheckResult]
    blocking: bool = False


class Step(ABC, Generic[ConfigT]):
    """A table made by asking models; see the module for an example."""

    group: ClassVar[str]
    """The benchmark."""
    name: str
    columns: Columns
    config: type[ConfigT]
    description: str
    partitions: PartitionsDefinition[Any] | None = None
    partitions_factory: Callable[[], PartitionsDefinition[Any]] | None = None
    """Gives the partitions where these are known only once all benchmarks are."""
    inputs: Mapping[str, Input] = {}
    deps: Sequence[AssetDep] = ()
    """The assets whose tables are found by `Work.find`: which of them depends on the partition."""
    kinds: Sequence[str] = ()
    code_version: str = "1"
    calls_column: str = "calls"
    """The column with the keys of the calls behind a row."""
    outcome_column: str = "outcome"
    """The column that says how a row ended."""
    key_columns: Sequence[str] = ()
    """The columns that name a row: where there are such, each item has to have one row."""
    filled_columns: Mapping[str, Collection[str]] = MappingProxyType({})
    """By outcome: which of all columns that are named here are not empty; the others are."""
    example_request: Request
    """A request of the kind that it sends, by which a model's price is looked up."""
    is_optional: bool = False
    """Whether others go without it, as without the answers of one judge."""
    has_portions: bool = False
    """Whether its rows come in `portions`, so that many take little memory."""
    is_automatic: bool = True
    """Whether a new painter's is made by itself: nobody has to write something first, or to ask."""
    subject_model: Model | None = None
    """The judge, metric or captioner whose own table it is; None where it serves all."""
    dependent_judges: Sequence[Model] = ()
    """Other judges whose own numbers need it, as what it gives their captions: where its table is
    there, it is made `again` once they are asked."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        if self.partitions_factory is not None:
            self.partitions = self.partitions_factory()

    @cached_property
    def key(self) -> AssetKey:
        """The asset's key."""
        return AssetKey([self.group, self.name])

    @property
    def pool(self) -> str:
        """The pool that bounds how many partitions are made at once."""
        return self.name

    @property
    def may_send_requests(self) -> bool:
        """True if the step asks a model under any config; a step that never does is in no quote."""
        return True

    def model(self, partition: str, config: ConfigT) -> Model | None:
        """The model that is asked; None, as by default, where nobody is. Raises `NoSuchModel`."""
        return None

    def rows(self, work: StepRun[ConfigT]) -> Sequence[dict[str, Any]]:
        """Return the rows in table order, with the columns known before any request is sent.

        The default returns the rows of all portions, or of the first input.

        In a plan, upstream rows may be `PENDING`: a row that depends on one has that outcome as
        well, and so has a row whose upstream row is outdated: a run that meets it fails. Raises
        `NotCountable` where the requests cannot be counted then.
        """
        if self.has_portions:
            return [*chain.from_iterable(self.portions(work))]
        return work.read_rows(next(iter(self.inputs)))

    def iterate_rows(self, work: StepRun[ConfigT]) -> Iterator[dict[str, Any]]:
        """The rows one after the other, of a step that has portions and no more to do for each."""
        raise NotImplementedError(f"{self.key.to_user_string()} says neither portions nor rows.")

    def portions(self, work: StepRun[ConfigT]) -> Iterator[Sequence[dict[str, Any]]]:
        """The rows, so many at a time; all of a step that has none.

        Where it `has_portions`, each is made, asked about and finished before the next, and the
        finished rows have the columns of the table alone.
        """
        if self.has_portions:
            return split_chunks(self.iterate_rows(work), PORTION)
        return iter([self.rows(work)])

    def require(self, work: StepRun[ConfigT]) -> None:
        """Raise what keeps all rows from being asked about, before the first one is made.

        A plan raises it as well: a quote tells what the run would refuse.
        """

    def prepare(
        self, work: StepRun[ConfigT], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """The rows with what code makes of them, such as pictures, before anybody is asked.

        A plan makes nothing: in it, rows whose making is left to this are `PENDING`.
        """
        return rows

    def converse(self, work: StepRun[ConfigT], row: Row) -> Conversation:
        """Ask about a row, in as many turns as it takes; return its further columns."""
        yield from ()
        return {}

    def finish(
        self, work: StepRun[ConfigT], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """The finished rows: what can be said once all are there. Some may be pending in a plan.

        Raises `Unfit` where what was answered cannot serve.
        """
        return rows

    def outdated_message(self, row: Row) -> str:
        """Name the tables to materialize again, for a run that meets a pending row."""
        inputs = ", ".join(input_spec.asset.to_user_string() for input_spec in self.inputs.values())
        return f"{self.key.to_user_string()}: {inputs} were not made together. Make them again."

    def extent(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> Extent | None:
        """Return how many of all items the table covers; None where it always covers all."""
        return None

    def metadata(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> Mapping[str, Any]:
        """Return metadata for Dagster, beside outcomes, extent and cost."""
        return {}

    def checks(self) -> Sequence[Check]:
        """Return the table's own checks, beside those of `assets.kit.checks` for every step."""
        return ()

    def expected_keys(
        self, work: StepRun[ConfigT], rows: Sequence[Row]
    ) -> Iterable[tuple[Any, ...]]:
        """The names of all rows that a table has to hold, which holds these `rows`."""
        all_rows = chain.from_iterable(self.portions(work))
        return (tuple(row[name] for name in self.key_columns) for row in all_rows)

    def problems(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> Iterable[Problem]:
        """Find further problems in the rows, beside those of expected keys and filled columns."""
        return ()

    def may_have_follow_up(self, row: Row) -> bool:
        """Return whether a second request may follow the first one about a row."""
        return False

    def answer_locally(self, model: Model, request: Request) -> Outcome | None:
        """Return a request's outcome where no model is needed, as for a rule-based writer."""
        return None

    def max_requests(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> Iterable[Request]:
        """Return worst-case requests beside these `rows`, where upstream rows are pending."""
        return ()

    def follow_up_requests(
        self, work: StepRun[ConfigT], row: Row, request: Request
    ) -> Iterable[Request]:
        """Return the worst-case follow-ups of a request that has no reply yet.

        The default asks what the conversation asks after its model's longest possible reply.
        """
        model = self.model(work.partition, work.config)
        talk = self.converse(work, row)
        if model is None or not self.may_have_follow_up(row):
            return
        # Where its length is unknown, so is the price of the first request.
        longest_reply = AnsweredOutcome("?" * (find_output_limit(model) or 1))
        try:
            next_request = next(talk)
            while next_request != request:
                next_request = talk.send(StepReply(longest_reply, ()))
            while True:
                next_request = talk.send(StepReply(longest_reply, ()))
                yield next_request
        except StopIteration:
            return

    def rebuild_config(self, home: DataRoot, partition: str) -> Mapping[str, Any]:
        """The run config by which its stored table is made again, as large as it is."""
        return {}

    def paper_sample(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> PaperSample | None:
        """Estimate the requests of the paper's sample; None where these `rows` are that sample."""
        return None

    def sample(self, partition: str, metadata: Mapping[str, Any]) -> StepSample | None:
        """Return the sample of a materialization with that metadata; None if it is no sample."""
        return None

    def warning(self, partition: str, config: ConfigT) -> str | None:
        """A warning that quotes and runs add to their numbers."""
        return None

    def dagster_inputs(self) -> dict[str, AssetIn]:
        """The inputs as Dagster takes them."""
        return {
            name: AssetIn(
                input_spec.asset,
                metadata={
                    **(
                        {"columns": list(input_spec.selected_columns)}
                        if input_spec.selected_columns
                        else {}
                    ),
                    **({"optional": True} if input_spec.is_optional else {}),
                },
            )
            for name, input_spec in self.inputs.items()
        }


Steps: TypeAlias = Mapping[AssetKey, Step[Any]]
"""By the key of their assets."""


CHUNK = 1000
"""How many rows are planned at once."""
PORTION = 5000
"""How many rows a step that has many makes at once."""


def split_chunks(rows: Iterable[Any], size: int | None = None) -> Iterator[list[Any]]:
    """So many at a time; by default as many as are planned at once.

    It keeps none of those that it has given: the memory of a long table is that of one portion.
    """
    iterator = iter(rows)
    return iter(lambda: list(islice(iterator, size or CHUNK)), [])
