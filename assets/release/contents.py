"""Contents of a release, for what describes it: the data card, Croissant, leaderboards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dagster import AssetKey, DagsterInstance

from assets.kit.leaderboards import Leaderboard, ScoredSample
from assets.kit.licences import PartLicence
from assets.kit.release_cards import ReleaseCard
from assets.kit.release_tables import Proof, ReleaseInputs, ReleaseTable
from assets.report.standings import Measure, Standing
from resources.calls import CallStore
from resources.execution.dagster_internals import AssetGraph
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache


@dataclass(frozen=True, kw_only=True)
class ReleaseSources:
    """Stores that a release is made from, and the asset graph that describes their content."""

    home: DataRoot
    images: ImageStore
    work_cache: WorkCache
    calls: CallStore
    catalog: Catalog
    instance: DagsterInstance
    graph: AssetGraph

    def to_inputs(self, partitions: Sequence[str]) -> ReleaseInputs:
        """The stores as the tables' rows are read from them, for some partitions."""
        return ReleaseInputs(self.home, self.images, self.work_cache, self.catalog, partitions)


@dataclass(frozen=True, kw_only=True)
class ReleasedSplit:
    """A split: its rows, and its Parquet files below the release's folder, in order."""

    name: str
    rows: int
    files: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class ReleasedTable:
    """A table as it is released: its declaration, and the splits that have rows."""

    declaration: ReleaseTable
    splits: Sequence[ReleasedSplit]
    proofs: Mapping[Proof, int]
    """Number of rows by how their labels are proved."""

    @property
    def rows(self) -> int:
        """Rows of all splits."""
        return sum(split.rows for split in self.splits)


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """A judge's number in a task, and what it was made from."""

    task: str
    measure: Measure
    standing: Standing
    samples: Sequence[ScoredSample]


@dataclass(frozen=True, kw_only=True)
class JudgeResult:
    """A judge's numbers in all tasks that rank it."""

    judge: Model
    tasks: Sequence[TaskResult]

    @property
    def date(self) -> str:
        """The day on which the latest of its answers were stored, as in "2026-11-20"."""
        return max(task.standing.date for task in self.tasks)


@dataclass(frozen=True, kw_only=True)
class Results:
    """Results of judges, and a sentence on each number that is none."""

    judges: Sequence[JudgeResult] = ()
    omissions: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release: what it was made from, and what its folder holds."""

    benchmark: str
    title: str
    question: str
    card: ReleaseCard
    version: str
    """Version of this project."""
    partitions: Sequence[str]
    """Partitions of the assets whose rows it has, as Dagster names them."""
    parts: Sequence[tuple[AssetKey, str | None]]
    """Each asset that made a column, with each of its partitions (None: it has none)."""
    seeds: Sequence[int]
    """Seeds in the tables' column `seed`, ascending; empty where none has it."""
    fresh_seed_commands: Sequence[str]
    """Shell lines that make an equivalent release with another seed; empty where there are none."""
    licence: str
    """Licence of what code drew and wrote, by its SPDX name."""
    licences: Sequence[PartLicence]
    """Licence of each part that the rows have, by name; this project among them."""
    tables: Sequence[ReleasedTable]
    missing_tables: Sequence[str]
    """Tables that the benchmark declares and that nothing is materialized of."""
    judges: Sequence[str]
    """Judges whose stored answers lie in `answers.cassette`; without any there is no such file."""
    has_webdataset: bool
    evaluation_version: str
    leaderboard: Leaderboard | None
    """The number by which leaderboards of others rank judges; None for a benchmark without."""
    results: Results
