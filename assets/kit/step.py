"""A step: a table made by asking models, one conversation a row.

A step says what its rows are, what is asked about each, and how the replies are read. Its asset,
checks, cost, plan for quotes and batches, and the calls behind each row follow from that:
`assets.kit.step_asset` makes the asset, `assets.kit.step_planner` the plan.

    class Captions(Step[LimitConfig]):
        config, example_request = LimitConfig, LookRequest(())
        asset = StepAsset(key=AssetKey(["zoo", "captions"]), partitions_def=PARTS)
        table = StepTable(columns=CAPTIONS, key_columns=("image_id",))
        inputs = single_input("zoo/pictures", PICTURES)

        def model(self, partition: str, config: LimitConfig) -> Model:
            return find_model(self.catalog, "my_captioner", "captioner")

        def converse(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
            turn = Turn("user", "What is shown?", (row["sha256"],))
            cells = reply_columns((yield LookRequest((turn,))))
            return {**cells, "caption": cells["response"]}
"""

from abc import ABC
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias

import pyarrow as pa
from dagster import AssetCheckResult, AssetDep, AssetKey, PartitionsDefinition

from assets.kit.columns import Columns
from assets.kit.forecast import Forecast
from assets.kit.step_run import ConfigT, Input, Row, Rows, StepRun
from resources.calls.spending import Account
from resources.calls.store import CallStore
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import Outcome
from resources.models.requests import Request
from resources.storage.chunks import split_into_chunks


class StepReply(NamedTuple):
    """Outcome of a request, with the keys of the stored calls behind it."""

    outcome: Outcome
    calls: tuple[str, ...]


Conversation: TypeAlias = Generator[Request, StepReply, dict[str, Any]]
"""Yields requests, each once the one before has its reply; returns columns of its row."""


class UnfitAnswers(ValueError):
    """Answers of models cannot form a table; the message names the remedy."""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Count of items that a table covers, of a total: 20 of 2,736 questions."""

    count: int
    total: int
    unit: str


Problem: TypeAlias = tuple[str, str]
"""A row's name, and what is wrong with it."""


class Check(NamedTuple):
    """A check of a step's table: `passes` gets the step's work and its finished rows."""

    name: str
    description: str
    passes: Callable[[Any, Sequence[Row]], AssetCheckResult]
    blocking: bool = False


@dataclass(frozen=True, kw_only=True)
class StepAsset:
    """The asset of a step, as Dagster and the sensors see it."""

    key: AssetKey
    """The benchmark, and the name."""
    description: str = ""
    """Description of the asset; default: the docstring of the step's class."""
    partitions_def: PartitionsDefinition[Any] | Callable[[], PartitionsDefinition[Any]] | None = (
        None
    )
    """Its partitions, or a function that builds them if they depend on other benchmarks."""
    kinds: Sequence[str] = ()
    deps: Sequence[AssetDep] = ()
    """Assets whose tables `StepRun.find_table` finds, by partition."""
    code_version: str = "1"
    pool: str | None = None
    """Bounds how many partitions are made at once; by default the asset's own."""
    subject_model: Model | None = None
    """The judge, metric or captioner that the table is about; None for a table that serves all."""
    is_optional: bool = False
    """Whether downstream assets work without it, as without the answers of one judge."""
    is_automatic: bool = True
    """Whether sensors may materialize it for a new painter: it needs nothing from a user."""

    @property
    def partitions(self) -> PartitionsDefinition[Any] | None:
        """The partitions; None for an asset without."""
        return self.partitions_def() if callable(self.partitions_def) else self.partitions_def

    def of_model(self, model: Model, **changes: Any) -> "StepAsset":
        """The asset of one model, whose name follows on the key and stands for {name} in the text.

        {model} and {backend} stand there for those of its entry.
        """
        *group, name = self.key.path
        entry = {"name": model.name, "model": model.model, "backend": model.backend}
        key, text = AssetKey([*group, f"{name}_{model.name}"]), self.description.format(**entry)
        return replace(self, **{"key": key, "description": text, **changes})


@dataclass(frozen=True, kw_only=True)
class StepTable:
    """The table of a step, and the rules that its check `every_row_ended` holds it to."""

    columns: Columns
    unstored_keys: Collection[str] = ()
    """Keys of rows that are not stored; all others are columns, of this table or of an input."""
    key_columns: Sequence[str] = ()
    """Columns that identify a row. If set, a blocking check requires exactly one row per item."""
    filled_columns: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Maps each outcome to the columns that are filled then; columns named for other outcomes alone
    must be empty."""
    outcome_column: str = "outcome"
    """The column that says how a row ended."""
    calls_column: str = "calls"
    """The column with the keys of the calls behind a row."""
    has_portions: bool = False
    """Whether its rows are made, asked about and finished some thousands at a time, so that many
    take little memory. The finished rows have the columns of the table alone."""
    list_expected_keys: Callable[[Any, Sequence[Row]], Iterable[tuple[Any, ...]]] | None = None
    """Lists the keys of all rows that the table must have; by default those of `Step.rows`."""
    find_problems: Callable[[Any, Sequence[Row]], Iterable[Problem]] = lambda work, rows: ()
    """Finds problems beside those of keys and filled columns."""

    def split(self, rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
        """The rows that are made at once: some thousands where it has portions, else all."""
        return split_into_chunks(rows, PORTION) if self.has_portions else iter([list(rows)])


class Step(ABC, Generic[ConfigT]):
    """A table made by asking models; see the module for an example."""

    asset: StepAsset
    table: StepTable
    config: type[ConfigT]
    inputs: Mapping[str, Input] = MappingProxyType({})
    example_request: Request | None = None
    """A request of the kind that it sends, by which a model's price is looked up; None for a step
    that asks no model under any config, and so is in no quote."""
    forecast: Forecast = Forecast()

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    @property
    def key(self) -> AssetKey:
        """The asset's key."""
        return self.asset.key

    def model(self, partition: str, config: ConfigT) -> Model | None:
        """The model that is asked; None, as by default, where nobody is. Raises `NoSuchModel`."""
        return None

    def build_table(self, rows: Sequence[Row]) -> pa.Table:
        """Build the stored table. Raises `ValueError` if rows have a key that is unknown."""
        read = (spec.row_columns or spec.streamed_columns for spec in self.inputs.values())
        input_columns = chain.from_iterable(columns.columns for columns in read if columns)
        return self.table.columns.build_table(rows, {*self.table.unstored_keys, *input_columns})

    def rows(self, work: StepRun[ConfigT]) -> Iterable[dict[str, Any]]:
        """Return the rows in table order, with the columns known before any request is sent.

        The default returns those of the first input. Rows of a table that `has_portions` come one
        after the other.

        In a plan, upstream rows may be `PENDING`: a row that depends on one has that outcome as
        well, and so has a row whose upstream row is outdated: a run that meets it fails. Raises
        `NotCountable` where the requests cannot be counted then.
        """
        return work.read_rows(next(iter(self.inputs)))

    def require(self, work: StepRun[ConfigT]) -> None:
        """Raise what keeps all rows from being asked about, before the first one is made.

        A plan raises it as well: a quote tells what the run would refuse.
        """

    def may_send(self, partition: str) -> bool:
        """Return whether requests for a partition may be sent now; otherwise a plan has none."""
        return True

    def limit_account(self, work: StepRun[ConfigT], account: Account, calls: CallStore) -> Account:
        """Return the account of a run, with a budget of the step's own where it has one."""
        return account

    def prepare(self, work: StepRun[ConfigT], rows: Rows) -> Rows:
        """The rows with what code makes of them, such as pictures, before anybody is asked.

        A plan makes nothing: in it, rows whose making is left to this are `PENDING`.
        """
        return rows

    def converse(self, work: StepRun[ConfigT], row: Row) -> Conversation:
        """Ask about a row, in as many turns as it takes; return its further columns."""
        yield from ()
        return {}

    def finish(self, work: StepRun[ConfigT], rows: Rows) -> Rows:
        """The finished rows: what can be said once all are there. Some may be pending in a plan.

        Raises `UnfitAnswers` where what was answered cannot serve.
        """
        return rows

    def extent(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> Extent | None:
        """Return how many of all items the table covers; None where it always covers all."""
        return None

    def metadata(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> Mapping[str, Any]:
        """Return metadata for Dagster, beside outcomes, extent and cost."""
        return {}

    def checks(self) -> Sequence[Check]:
        """Return the table's own checks, beside those of `assets.kit.checks` for every step."""
        return ()


Steps: TypeAlias = Mapping[AssetKey, Step[Any]]
"""Steps by the key of their assets."""
PORTION = 5000
"""Number of rows made at once, of a table that has portions."""
