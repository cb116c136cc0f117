"""Assets that a benchmark lacks for each painter, and whether to make them without asking."""

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
    DagsterRunStatus,
    MultiPartitionsDefinition,
    PartitionsDefinition,
    RunRequest,
    RunsFilter,
)

from assets.kit.benchmarks import Benchmark
from assets.kit.jobs import Flow
from assets.kit.limits import PARTIAL
from assets.kit.model_lookup import NoSuchModel
from assets.kit.partitions import (
    BY_PAINTER,
    is_by_painter,
    partition_painters,
    partition_tags,
    split_partition_key,
)
from assets.kit.step import Step, StepSample
from assets.planning.quote_selection import AssetsByKey
from resources.models.catalog import Catalog, Model
from resources.models.price_gaps import describe_missing_fields
from resources.models.pricing import compute_cost
from resources.models.replies import Usage
from resources.models.requests import Request

PAINTER_TAG = "counterfactory/painter"
"""The tag of a run that was launched for a painter without anyone's pressing a button."""
SAMPLE_TAG = "counterfactory/sample"
"""The tag that says of such a run how large its sample is beside the paper's."""
QUOTED_TAG = "counterfactory/quoted"
"""The tag of a run of the job `quote` about a new painter: the painter's name."""

_VERSION, _READ = "dagster/data_version", "dagster/input_data_version/"
_SOMETHING = Usage(1, 1, 1.0)
_LATEST = 100
_FINISHED = (DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)
_UNFINISHED = [status for status in DagsterRunStatus if status not in _FINISHED]


class PainterBacklog:
    """Partitions of a benchmark that painters lack; `messages` are for the user."""

    def __init__(
        self, instance: DagsterInstance, catalog: Catalog, assets: AssetsByKey, benchmark: Benchmark
    ) -> None:
        self.instance, self.catalog, self.benchmark = instance, catalog, benchmark
        self.messages: list[str] = []
        self.flows = benchmark.build_flows(assets)
        self._all = {step.key: step for step in benchmark.steps(catalog) if step.key in assets}
        self.steps = [step for step in self._all.values() if is_by_painter(step.partitions)]
        """The steps that are divided by painter, each after what it reads."""
        self._made: dict[AssetKey, set[str]] = {}
        self._lacks: dict[str, str | None] = {}
        self._unpriced: dict[str, None] = {}
        painter_names = partition_painters(instance, self._divisions) if self.steps else set()
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
    def _divisions(self) -> list[PartitionsDefinition[Any]]:
        return [dimension.partitions_def for dimension in self.partitions_def.partitions_defs]

    @property
    def partitions_def(self) -> MultiPartitionsDefinition:
        """Partitions of the steps: by painter and one other dimension."""
        assert isinstance(self.painting_step.partitions, MultiPartitionsDefinition)
        return self.painting_step.partitions

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
    def _sources(self) -> list[AssetKey]:
        """Inputs of the steps that are partitioned by the other dimension alone."""
        read = (source for step in self.steps for source in step.inputs.values())
        return list(
            dict.fromkeys(source.asset for source in read if source.dimension == self._dimension)
        )

    @cached_property
    def paintable_values(self) -> list[str]:
        """Values of which all that is read is there and may be painted; the others are told of.

        A sample smaller than the paper's may be a stand-in run's, or a trial, and one of which
        nobody knows how large it is may be neither. It is painted only where the user had a painter
        with results paint just that sample.
        """
        ready = []
        for source in self._sources:
            missing = [
                candidate
                for candidate in self.values
                if candidate not in self.list_materialized(source)
            ]
            if missing:
                self.messages.append(
                    f"Nothing is painted of {', '.join(missing)}: materialize "
                    f"{source.to_user_string()} of that first."
                )
        for value in self.values:
            if not all(value in self.list_materialized(source) for source in self._sources):
                continue
            sample = self.find_sample(value)
            if sample is None and not self._is_painted(value):
                self.messages.append(
                    f"Nothing is painted of {value} by itself: no painter with results has "
                    f"pictures of what there is to paint. Materialize "
                    f"{self.painting_step.key.to_user_string()} of one painter yourself: others "
                    f"follow."
                )
            elif sample is not None and sample.is_trial and not self._is_painted(value):
                names = " and ".join(source.to_user_string() for source in self._sources)
                self.messages.append(
                    f"Nothing is painted of {value} by itself: {names} is a trial sample, "
                    f"{sample.description}, of which no painter with results has pictures. "
                    f"Materialize "
                    f"{names}, and what it is made from, of {value} in full; or, to have the trial "
                    f"painted, {self.painting_step.key.to_user_string()} of one painter yourself."
                )
            else:
                ready.append(value)
        return ready

    def find_sample(self, value: str) -> StepSample | None:
        """Return the size of a value's sample beside the paper's; None if it is not known."""
        for source in self._sources:
            if source in self._all:
                metadata = self._load_latest(source, value).metadata
                plain = {name: entry.value for name, entry in metadata.items()}
                if sample := self._all[source].sample(value, plain):
                    return sample
        return None

    def _is_painted(self, value: str) -> bool:
        """Return whether some painter's results were painted from exactly the current inputs.

        Pictures of a trial, by a `limit`, do not count.
        """
        real = [model.name for model in self.catalog.models if not model.is_stand_in]
        stored_partitions = {
            self.build_partition_key(value, name) for name in real
        } & self.list_materialized(self.painting_step.key)
        painted = [
            self._load_latest(self.painting_step.key, partition) for partition in stored_partitions
        ]
        tags = [
            materialization.tags or {}
            for materialization in painted
            if PARTIAL not in materialization.metadata
        ]
        version_tags = {}
        for source in self._sources:
            version = (self._load_latest(source, value).tags or {}).get(_VERSION, "")
            # Of what a run has read of another asset's partition Dagster keeps the version's hash.
            version_tags[f"{_READ}{source.to_user_string()}"] = sha256(version.encode()).hexdigest()
        return any(version_tags.items() <= dict(painted_tags).items() for painted_tags in tags)

    def _load_latest(self, asset: AssetKey, partition: str) -> AssetMaterialization:
        """The latest materialization of a partition that is there."""
        records = AssetRecordsFilter(asset, asset_partitions=[partition])
        (record,) = self.instance.fetch_materializations(records, limit=1).records
        assert record.asset_materialization is not None
        return record.asset_materialization

    def select_targets(self, partition: str) -> list[AssetKey]:
        """Select the assets to make for a partition: every step that has a priced model.

        A judge, metric or checker whose price is unknown is told of, and left to the user, and so
        is a step that reads what a user writes.
        """
        return [step.key for step in self.steps if self._is_made(step, partition)]

    def _is_made(self, step: Step[Any], partition: str) -> bool:
        if not (step.is_optional and step.is_automatic):
            return not step.is_optional
        lacks = self._explain_missing_price(step, partition)
        if lacks and lacks not in self._unpriced:
            self._unpriced[lacks] = None
            self.messages.append(f"{step.key.to_user_string()} is not made by itself: {lacks}")
        return lacks is None

    def _explain_missing_price(self, step: Step[Any], partition: str) -> str | None:
        """Explain why a step cannot be made without the user: no model, or none with a price."""
        try:
            model = step.model(partition, step.config(**self.step_configs.get(step.key, {})))
        except NoSuchModel as why:
            return (
                f"{why} New painters get the config with which {step.key.to_user_string()} of a "
                "painter with results was last made."
            )
        return None if model is None else describe_missing_price(model, step.example_request)

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

    def list_materialized(self, asset: AssetKey) -> set[str]:
        """The partitions of an asset that were ever materialized."""
        if asset not in self._made:
            self._made[asset] = set(self.instance.get_materialized_partitions(asset))
        return self._made[asset]

    def find_missing_assets(self, partition: str) -> list[AssetKey]:
        """Return the assets not materialized for a partition."""
        return [
            asset
            for asset in self.select_targets(partition)
            if partition not in self.list_materialized(asset)
        ]

    def has_unfinished_run(self, partition: str) -> bool:
        """Return whether any run, queued or under way, makes part of this partition."""
        tags = {"dagster/partition": partition}
        under_way = RunsFilter(tags=tags, statuses=_UNFINISHED)
        ours = {step.key for step in self.steps}
        return any(
            run.job_name == self.painting_flow.job_name or set(run.asset_selection or ()) & ours
            for run in self.instance.get_runs(under_way)
        )

    def may_be_launched(self, painter: Model) -> bool:
        """Return whether a painter has a quote and all models that it needs have known prices.

        What lacks is told.
        """
        if painter.name not in self._lacks:
            partition = self.build_partition_key(self.values[0], painter.name)
            needed = (step for step in self.steps if not step.is_optional)
            lacks = next(
                filter(None, (self._explain_missing_price(s, partition) for s in needed)), None
            )
            if lacks is None and not self._is_quoted(painter):
                lacks = (
                    "it has no quote yet. The sensor `painters` makes one; a quote that failed can "
                    "be executed again from its run's page."
                )
            self._lacks[painter.name] = lacks
            if lacks is not None:
                self.messages.append(f"{painter.name} is not launched by itself: {lacks}")
        return self._lacks[painter.name] is None

    def _is_quoted(self, painter: Model) -> bool:
        quotes = RunsFilter(tags={QUOTED_TAG: painter.name}, statuses=[DagsterRunStatus.SUCCESS])
        return bool(self.instance.get_runs(quotes, limit=1))

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
        latest = self.instance.fetch_materializations(AssetRecordsFilter(asset), limit=_LATEST)
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
    def painting_flow(self) -> Flow:
        """The job that makes the partitions."""
        return next(flow for flow in self.flows if flow.partitions == self.partitions_def)

    def find_flow(self, division: PartitionsDefinition[Any] | None, name: str = "") -> Flow | None:
        """The job of assets that are divided so, with one of that name among them."""
        for flow in self.flows:
            if flow.partitions == division and any(asset.endswith(name) for asset in flow.assets):
                return flow
        return None

    def build_run_request(
        self, run_key: str, painter: Model, partition: str, assets: Sequence[AssetKey]
    ) -> RunRequest:
        """The run that makes assets of a painter's partition."""
        names = {asset.to_python_identifier() for asset in assets}
        sample = self.find_sample(self.parse_value(partition))
        sample_text = "" if sample is None else f"{'trial: ' * sample.is_trial}{sample.description}"
        self.messages.append(
            f"{partition} is launched{f' ({sample_text})' if sample_text else ''}."
        )
        return RunRequest(
            run_key=run_key,
            job_name=self.painting_flow.job_name,
            asset_selection=list(assets),
            partition_key=partition,
            run_config={
                "ops": {name: config for name, config in self.ops_config.items() if name in names}
            },
            tags={
                **partition_tags(partition, self.partitions_def),
                PAINTER_TAG: painter.name,
                **({SAMPLE_TAG: sample_text} if sample_text else {}),
            },
        )


def list_backlogs(
    instance: DagsterInstance,
    catalog: Catalog,
    assets: AssetsByKey,
    benchmarks: Mapping[str, Benchmark],
) -> list[PainterBacklog]:
    """The coverage of each benchmark that paints."""
    backlogs = (
        PainterBacklog(instance, catalog, assets, benchmark) for benchmark in benchmarks.values()
    )
    return [coverage for coverage in backlogs if coverage.steps]


def describe_missing_price(model: Model, request: Request) -> str | None:
    """Describe the fields of models.yaml that would make a model's price known; None if it is."""
    if compute_cost(model, request, _SOMETHING) is not None:
        return None
    return (
        f"the price of {model.name} is unknown. Give its entry in models.yaml "
        f"{describe_missing_fields(model, request)}, or materialize it yourself."
    )
