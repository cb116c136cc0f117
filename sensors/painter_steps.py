"""Steps of a benchmark that are partitioned by painter: partitions, samples, tables and configs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import Any

from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetRecordsFilter,
    DagsterInstance,
    MultiPartitionsDefinition,
    PartitionsDefinition,
)

from assets.kit.benchmarks import Benchmark
from assets.kit.forecast import StepSample
from assets.kit.jobs import JobSpec
from assets.kit.limits import PARTIAL
from assets.kit.partitions import (
    BY_PAINTER,
    is_by_painter,
    partition_painters,
    split_partition_key,
)
from assets.kit.step import Step
from assets.planning.quote_selection import AssetsByKey
from resources.models.catalog import Catalog

_VERSION, _READ = "dagster/data_version", "dagster/input_data_version/"
_MAX_RUNS = 100
"""Number of materializations among which the latest config is looked for."""


class PainterSteps:
    """Steps of a benchmark by painter, and what the instance has of them."""

    def __init__(
        self, instance: DagsterInstance, catalog: Catalog, assets: AssetsByKey, benchmark: Benchmark
    ) -> None:
        self.instance, self.catalog, self.benchmark = instance, catalog, benchmark
        self.job_specs = benchmark.build_job_specs(assets)
        self._steps_by_key = {
            step.key: step for step in benchmark.steps(catalog) if step.key in assets
        }
        self.steps = [
            step for step in self._steps_by_key.values() if is_by_painter(step.asset.partitions)
        ]
        """Steps partitioned by painter, each after its inputs."""
        self._materialized: dict[AssetKey, set[str]] = {}
        painter_names = partition_painters(instance, self._partitions_defs) if self.steps else set()
        self.painters = [
            model
            for model in catalog.select_role("painter")
            if model.name in painter_names and not model.is_stand_in
        ]
        """Painters that have partitions and whose pictures are results."""

    @property
    def painting_step(self) -> Step[Any]:
        """The step that paints."""
        return self.steps[0]

    @property
    def _partitions_defs(self) -> list[PartitionsDefinition[Any]]:
        return [dimension.partitions_def for dimension in self.partitions_def.partitions_defs]

    @property
    def partitions_def(self) -> MultiPartitionsDefinition:
        """Partitions of the steps: by painter and one other dimension."""
        assert isinstance(self.painting_step.asset.partitions, MultiPartitionsDefinition)
        return self.painting_step.asset.partitions

    def build_partition_key(self, value: str, painter: str) -> str:
        """The partition of a painter and a value of the other dimension."""
        parts = {dimension.name: painter for dimension in self.partitions_def.partitions_defs}
        parts[self._dimension] = value
        return "|".join(parts[name] for name in sorted(parts))

    def parse_value(self, partition: str) -> str:
        """The value of the other dimension in a partition."""
        return split_partition_key(partition, self.partitions_def)[self._dimension]

    def parse_painter(self, partition: str) -> str:
        """The painter in a partition."""
        parts = split_partition_key(partition, self.partitions_def)
        return next(part for name, part in parts.items() if name != self._dimension)

    @property
    def values(self) -> Sequence[str]:
        """The values of the other dimension, as animals."""
        dimensions = {
            dimension.name: dimension.partitions_def
            for dimension in self.partitions_def.partitions_defs
        }
        return dimensions[self._dimension].get_partition_keys()

    @cached_property
    def _dimension(self) -> str:
        """Name of the dimension that is not the painters'."""
        (name,) = (
            dimension.name
            for dimension in self.partitions_def.partitions_defs
            if dimension.partitions_def not in BY_PAINTER
        )
        return name

    @cached_property
    def sources(self) -> list[AssetKey]:
        """Inputs of the steps that are partitioned by the other dimension alone."""
        read = (source for step in self.steps for source in step.inputs.values())
        return list(
            dict.fromkeys(source.asset for source in read if source.dimension == self._dimension)
        )

    def find_sample(self, value: str) -> StepSample | None:
        """Return the size of a value's sample beside the paper's; None if it is not known."""
        for source in self.sources:
            if source in self._steps_by_key:
                metadata = self.load_latest(source, value).metadata
                plain = {name: entry.value for name, entry in metadata.items()}
                if sample := self._steps_by_key[source].forecast.describe_sample(value, plain):
                    return sample
        return None

    def is_painted(self, value: str) -> bool:
        """Return whether some painter's results were painted from exactly the current inputs.

        Pictures of a trial, by a `limit`, do not count.
        """
        real = [model.name for model in self.catalog.models if not model.is_stand_in]
        stored_partitions = {
            self.build_partition_key(value, name) for name in real
        } & self.list_materialized(self.painting_step.key)
        painted = [
            self.load_latest(self.painting_step.key, partition) for partition in stored_partitions
        ]
        tags = [
            materialization.tags or {}
            for materialization in painted
            if PARTIAL not in materialization.metadata
        ]
        version_tags = {}
        for source in self.sources:
            version = (self.load_latest(source, value).tags or {}).get(_VERSION, "")
            # For inputs in other partitions, Dagster keeps the hash of the version.
            version_tags[f"{_READ}{source.to_user_string()}"] = sha256(version.encode()).hexdigest()
        return any(version_tags.items() <= dict(painted_tags).items() for painted_tags in tags)

    def load_latest(self, asset: AssetKey, partition: str) -> AssetMaterialization:
        """The latest materialization of a partition that is there."""
        records = AssetRecordsFilter(asset, asset_partitions=[partition])
        (record,) = self.instance.fetch_materializations(records, limit=1).records
        assert record.asset_materialization is not None
        return record.asset_materialization

    def list_materialized(self, asset: AssetKey) -> set[str]:
        """The partitions of an asset that were ever materialized."""
        if asset not in self._materialized:
            self._materialized[asset] = set(self.instance.get_materialized_partitions(asset))
        return self._materialized[asset]

    def find_latest_run(self, partitions: Iterable[str]) -> str:
        """Return the run that made the latest table of partitions."""
        filters = [
            AssetRecordsFilter(step.key, asset_partitions=[*partitions]) for step in self.steps
        ]
        record_lists = (
            self.instance.fetch_materializations(record_filter, limit=1).records
            for record_filter in filters
        )
        latest = chain.from_iterable(record_lists)
        return max(latest, key=lambda record: record.storage_id).run_id

    @cached_property
    def step_configs(self) -> Mapping[AssetKey, Mapping[str, Any]]:
        """Latest config of each step for a painter with pictures that are results.

        A new painter gets what the earlier ones got, or its figures could not be set beside theirs.
        A `limit` is no part of it: it makes a trial, of which the others would all be one as well.
        """
        real = {model.name for model in self.catalog.models if not model.is_stand_in}
        configs = {}
        for step in self.steps:
            latest = next(self._iterate_run_configs(step.key, real), {})
            name = step.key.to_python_identifier()
            config = dict(latest.get("ops", {}).get(name, {}).get("config", {}))
            config.pop("limit", None)
            if config:
                configs[step.key] = config
        return configs

    def _iterate_run_configs(self, asset: AssetKey, real: set[str]) -> Iterator[Mapping[str, Any]]:
        """The config of runs that made an asset of real painters, the latest first."""
        latest = self.instance.fetch_materializations(AssetRecordsFilter(asset), limit=_MAX_RUNS)
        for record in latest.records:
            is_real = record.partition_key and self.parse_painter(record.partition_key) in real
            run = self.instance.get_run_by_id(record.run_id) if is_real else None
            if run is not None:
                yield run.run_config

    @property
    def ops_config(self) -> dict[str, Any]:
        """The design as run config of ops."""
        return {
            asset.to_python_identifier(): {"config": dict(config)}
            for asset, config in self.step_configs.items()
        }

    @cached_property
    def painting_job_spec(self) -> JobSpec:
        """The job that makes the partitions."""
        return next(
            job_spec for job_spec in self.job_specs if job_spec.partitions == self.partitions_def
        )

    def find_job_spec(
        self, partitions_def: PartitionsDefinition[Any] | None, name: str = ""
    ) -> JobSpec | None:
        """Find the job of assets with these partitions, one of which has that name."""
        for job_spec in self.job_specs:
            if job_spec.partitions == partitions_def and any(
                asset.endswith(name) for asset in job_spec.assets
            ):
                return job_spec
        return None
