"""Tasks of a judge or metric: each partition of the steps that are about it.

A step of another judge is included if this judge's results depend on it.
Nothing is painted or written for it: a partition is ready once all that the step reads is stored.
Missing tables are named, with those to materialize before them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from dagster import (
    AssetKey,
    AssetsDefinition,
    DagsterInstance,
    MultiPartitionsDefinition,
    PartitionsDefinition,
    SpecificPartitionsPartitionMapping,
    StaticPartitionMapping,
    StaticPartitionsDefinition,
)

from assets.kit.benchmarks import Benchmark, load_benchmarks
from assets.kit.collections import collection_key
from assets.kit.columns import IS_STAND_IN
from assets.kit.model_lookup import NoSuchModel
from assets.kit.partitions import split_partition_key
from assets.kit.step import Step
from assets.kit.step_planner import input_partition
from assets.kit.step_run import Input
from generators.name_suggestions import suggest_names
from resources.faults import CorruptItem
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot

TableLocation = tuple[AssetKey, str]
"""A partition of an asset ("" for one without)."""
_ROLES = ("judge", "metric")


class JudgeTask(NamedTuple):
    """A partition of a step that is about a judge: what one run asks it.

    It can be asked if `missing_tables` is empty: these have to be made first, parents before
    others. `is_stand_in` says that stand-ins made, or would make, all that it reads, so that it
    gives no result. A task of another judge has in `rebuild_config` the run config by which its
    stored table was made.
    """

    step: Step[Any]
    partition: str
    missing_tables: Sequence[TableLocation] = ()
    is_stand_in: bool = False
    rebuild_config: Mapping[str, Any] | None = None

    @property
    def location(self) -> TableLocation:
        """The partition of the step's asset."""
        return self.step.key, self.partition


class BenchmarkTasks(NamedTuple):
    """Tasks of a judge in one benchmark.

    `on_request` are further analyses, which run only where they are selected by name.
    """

    tasks: Sequence[JudgeTask]
    on_request: Sequence[AssetKey]

    @property
    def is_applicable(self) -> bool:
        """True if the benchmark has anything to ask the judge."""
        return bool(self.tasks or self.on_request)


def list_judges(catalog: Catalog) -> list[Model]:
    """The judges and metrics of a catalog, in its order."""
    return [model for model in catalog.models if set(_ROLES) & set(model.roles)]


def find_judge(catalog: Catalog, name: str) -> Model:
    """The judge or metric of that name. Raises `NoSuchModel`."""
    able = {model.name: model for model in list_judges(catalog)}
    if name in able:
        return able[name]
    is_listed = any(model.name == name for model in catalog.models)
    raise NoSuchModel(
        f"{name!r} is {'no judge or metric' if is_listed else 'not'} in {catalog.path}. "
        f"{'Add judge to its roles' if is_listed else 'Add it'} there, or name another"
        f"{suggest_names(name, list(able))}."
    )


class JudgeTaskFinder:
    """Finds the tasks of all judges in all benchmarks; caches its look-ups."""

    def __init__(
        self,
        catalog: Catalog,
        home: DataRoot,
        instance: DagsterInstance,
        assets: Mapping[AssetKey, AssetsDefinition],
    ) -> None:
        self.catalog, self.home = catalog, home
        self.instance, self.assets = instance, assets
        self._stored: dict[TableLocation, bool] = {}
        self._stand_in_cells: dict[TableLocation, bool] = {}
        self._rebuild_configs: dict[TableLocation, Mapping[str, Any]] = {}
        self._keys: dict[str, Sequence[str]] = {}

    def find_tasks(self, judge: Model, benchmark: Benchmark) -> BenchmarkTasks:
        """Find the tasks of a judge in a benchmark, in step order."""
        steps = [
            step for step in self._steps_by_benchmark[benchmark.name] if step.key in self.assets
        ]
        judge_steps = [
            step
            for step in steps
            if (model := step.asset.subject_model) is not None and model.name == judge.name
        ]
        # If all of its steps are manual (such as scores from a file), they run on request.
        automatic_steps = [step for step in judge_steps if step.asset.is_automatic] or judge_steps
        tasks: dict[TableLocation, JudgeTask] = {}
        for step in automatic_steps:
            for partition in self._partitions(step.asset.partitions):
                tasks[step.key, partition] = self._build_task(step, partition, tasks)
        for step in steps:
            if all(other.name != judge.name for other in step.forecast.dependent_judges):
                continue
            for partition in self._partitions(step.asset.partitions):
                location = step.key, partition
                if self.is_stored(location):
                    task = self._build_task(step, partition, tasks)
                    tasks[location] = task._replace(
                        rebuild_config=self._find_rebuild_config(step, location)
                    )
        return BenchmarkTasks(
            [*tasks.values()], [step.key for step in judge_steps if step not in automatic_steps]
        )

    def iterate_inputs(self, task: JudgeTask) -> Iterator[tuple[Input, TableLocation]]:
        """Iterate over the inputs of a task, with the table and partition that it reads."""
        step, partition = task.step, task.partition
        return (
            (input_spec, (input_spec.asset, input_partition(step, input_spec, partition)))
            for input_spec in step.inputs.values()
        )

    @cached_property
    def steps(self) -> Mapping[AssetKey, Step[Any]]:
        """Steps of all benchmarks by asset key."""
        return {step.key: step for steps in self._steps_by_benchmark.values() for step in steps}

    def list_partitions(self, step: Step[Any]) -> Sequence[str]:
        """List the partitions of a step; "" for a step without."""
        return self._partitions(step.asset.partitions)

    @cached_property
    def _stand_ins(self) -> frozenset[str]:
        """Painters whose pictures are no results, so that nothing made of them is."""
        painters = self.catalog.select_role("painter")
        return frozenset(painter.name for painter in painters if painter.is_stand_in)

    @cached_property
    def _steps_by_benchmark(self) -> Mapping[str, Sequence[Step[Any]]]:
        return {
            name: [*benchmark.steps(self.catalog)] for name, benchmark in load_benchmarks().items()
        }

    def _find_rebuild_config(self, step: Step[Any], location: TableLocation) -> Mapping[str, Any]:
        if location not in self._rebuild_configs:
            try:
                self._rebuild_configs[location] = step.forecast.rebuild_config(
                    self.home, location[1]
                )
            except (CorruptItem, KeyError):
                # As large as it can be, then.
                self._rebuild_configs[location] = {}
        return self._rebuild_configs[location]

    def _partitions(self, partitions_def: PartitionsDefinition[Any] | None) -> Sequence[str]:
        if partitions_def is None:
            return [""]
        # Steps build equal definitions anew, so they are compared by their text.
        name = str(partitions_def)
        if name not in self._keys:
            self._keys[name] = partitions_def.get_partition_keys(
                dynamic_partitions_store=self.instance
            )
        return self._keys[name]

    def _build_task(
        self, step: Step[Any], partition: str, before: Mapping[TableLocation, JudgeTask]
    ) -> JudgeTask:
        """Build the task of a step's partition, which runs together with the tasks `before` it."""
        unmade: dict[TableLocation, None] = {}
        stands_in = False
        for input_spec, location in self.iterate_inputs(JudgeTask(step, partition)):
            if location in before:
                unmade |= dict.fromkeys(before[location].missing_tables)
                stands_in |= before[location].is_stand_in
            elif input_spec.is_optional:
                continue
            elif self.is_stored(location):
                stands_in |= self._has_stand_ins_alone(location)
            else:
                unmade |= dict.fromkeys(self._iterate_missing(location))
        if unmade:
            names = split_partition_key(partition, step.asset.partitions).values()
            stands_in |= not self._stand_ins.isdisjoint(names)
        return JudgeTask(
            step=step, partition=partition, missing_tables=[*unmade], is_stand_in=stands_in
        )

    def _iterate_missing(self, location: TableLocation) -> Iterator[TableLocation]:
        """Iterate over a table's ancestors that are not stored, parents first, then the table."""
        for parent in self._iterate_parents(location):
            if not self.is_stored(parent):
                yield from self._iterate_missing(parent)
        yield location

    def _iterate_parents(self, location: TableLocation) -> Iterator[TableLocation]:
        """Iterate over a table's parents that map to one partition: its own, or a part of it.

        Where any of several tables will do, as of all painters', none is a parent.
        """
        asset, partition = location
        step = self.steps.get(asset)
        inputs = () if step is None else step.inputs.values()
        read = {input_spec.asset: input_spec for input_spec in inputs}
        for parent in sorted(self.assets[asset].dependency_keys):
            if step is not None and parent in read:
                if not read[parent].is_optional:
                    yield parent, input_partition(step, read[parent], partition)
            elif parent in self.assets:
                for parent_partition in self._find_matching_partitions(location, parent):
                    yield parent, parent_partition

    def _find_matching_partitions(self, location: TableLocation, parent: AssetKey) -> Sequence[str]:
        """Find the partitions of a parent that match a partition of an asset."""
        asset, partition = location
        own_partitions_def = self.assets[asset].partitions_def
        partitions_def = self.assets[parent].partitions_def
        mapping = self.assets[asset].get_partition_mapping(parent)
        if isinstance(mapping, SpecificPartitionsPartitionMapping):
            return mapping.partition_keys
        if own_partitions_def is None or isinstance(partitions_def, MultiPartitionsDefinition):
            return [partition] if partitions_def == own_partitions_def else []
        parts = {partition, *split_partition_key(partition, own_partitions_def).values()}
        if partitions_def is None:
            # Of all collections a partition reads the one that it is called by.
            return [""] if parent in map(collection_key, parts) else []
        if isinstance(mapping, StaticPartitionMapping) and isinstance(
            partitions_def, StaticPartitionsDefinition
        ):
            mapped = mapping.get_upstream_mapped_partitions_result_for_partitions(
                own_partitions_def.subset_with_partition_keys([partition]),
                own_partitions_def,
                partitions_def,
            )
            parts = {*mapped.partitions_subset.get_partition_keys()}
        return sorted(parts & {*self._partitions(partitions_def)})

    def iterate_choices(self, location: TableLocation) -> Iterator[tuple[AssetKey, str]]:
        """Iterate over parents of which any partition will do, such as any painter's, but none is.

        Each comes with the dimension to choose from. They are made by nobody unasked.
        """
        asset, partition = location
        own_partitions_def = self.assets[asset].partitions_def
        for parent in sorted(self.assets[asset].dependency_keys & self.assets.keys()):
            partitions_def = self.assets[parent].partitions_def
            if not isinstance(partitions_def, MultiPartitionsDefinition):
                continue
            names = [
                dimension.name
                for dimension in partitions_def.partitions_defs
                if dimension.partitions_def != own_partitions_def
            ]
            keys = [
                key
                for key in self._partitions(partitions_def)
                if partition in split_partition_key(key, partitions_def).values()
            ]
            if len(names) == 1 and not any(self.is_stored((parent, key)) for key in keys):
                yield parent, names[0]

    def is_stored(self, location: TableLocation) -> bool:
        """Return whether the table of a partition is stored."""
        if location not in self._stored:
            self._stored[location] = self.home.holds(location[0], location[1] or None)
        return self._stored[location]

    def _has_stand_ins_alone(self, location: TableLocation) -> bool:
        """Return whether a table records that a stand-in had a part in every row."""
        if location not in self._stand_in_cells:
            asset, partition = location
            try:
                rows = self.home.table(asset, partition or None, [IS_STAND_IN])[IS_STAND_IN]
            except (CorruptItem, KeyError):
                # It does not say so; or whoever plans with it says what is wrong with it.
                return False
            self._stand_in_cells[location] = len(rows) > 0 and bool(rows.eq(True).all())
        return self._stand_in_cells[location]
