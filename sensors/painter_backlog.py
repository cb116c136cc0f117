"""Assets that a benchmark lacks for each painter, and whether to make them without asking."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from dagster import AssetKey, DagsterInstance, DagsterRunStatus, RunRequest, RunsFilter

from assets.kit.benchmarks import Benchmark
from assets.kit.model_lookup import NoSuchModel
from assets.kit.partitions import partition_tags
from assets.kit.step import Step
from assets.planning.quote_selection import AssetsByKey
from resources.models.catalog import Catalog, Model
from resources.models.price_gaps import describe_missing_fields
from resources.models.pricing import compute_cost
from resources.models.replies import Usage
from resources.models.requests import Request
from sensors.painter_steps import PainterSteps

PAINTER_TAG = "counterfactory/painter"
"""The tag of a run that was launched for a painter without anyone's pressing a button."""
SAMPLE_TAG = "counterfactory/sample"
"""The tag that says of such a run how large its sample is beside the paper's."""
QUOTED_TAG = "counterfactory/quoted"
"""The tag of a run of the job `quote` about a new painter: the painter's name."""

_SOMETHING = Usage(1, 1, 1.0)
_FINISHED = (DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)
_UNFINISHED = [status for status in DagsterRunStatus if status not in _FINISHED]


class PainterBacklog(PainterSteps):
    """Partitions that painters lack, and which to make unasked; `messages` are for the user."""

    def __init__(
        self, instance: DagsterInstance, catalog: Catalog, assets: AssetsByKey, benchmark: Benchmark
    ) -> None:
        super().__init__(instance, catalog, assets, benchmark)
        self.messages: list[str] = []
        self._lacks: dict[str, str | None] = {}
        self._unpriced: dict[str, None] = {}

    @cached_property
    def paintable_values(self) -> list[str]:
        """Values whose inputs exist and may be painted; `messages` report the others.

        A sample smaller than the paper's may be a stand-in run's or a trial, and a sample of
        unknown size may be neither. Such a sample is painted only if a painter with results has
        painted just that sample for the user.
        """
        ready = []
        for source in self.sources:
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
            if not all(value in self.list_materialized(source) for source in self.sources):
                continue
            sample = self.find_sample(value)
            if sample is None and not self.is_painted(value):
                self.messages.append(
                    f"Nothing is painted of {value} by itself: no painter with results has "
                    f"pictures of what there is to paint. Materialize "
                    f"{self.painting_step.key.to_user_string()} of one painter yourself: others "
                    f"follow."
                )
            elif sample is not None and sample.is_trial and not self.is_painted(value):
                names = " and ".join(source.to_user_string() for source in self.sources)
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

    def select_targets(self, partition: str) -> list[AssetKey]:
        """Select the assets to make for a partition: every step that has a priced model.

        Judges, metrics and checkers of unknown price are reported and left to the user, as are
        steps that read what a user writes.
        """
        return [step.key for step in self.steps if self._is_made(step, partition)]

    def _is_made(self, step: Step[Any], partition: str) -> bool:
        if not (step.asset.is_optional and step.asset.is_automatic):
            return not step.asset.is_optional
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
        request = step.example_request
        return describe_missing_price(model, request) if model and request else None

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
            run.job_name == self.painting_job_spec.job_name or set(run.asset_selection or ()) & ours
            for run in self.instance.get_runs(under_way)
        )

    def may_be_launched(self, painter: Model) -> bool:
        """Return whether a painter has a quote and all its models have known prices.

        `messages` report what is missing.
        """
        if painter.name not in self._lacks:
            partition = self.build_partition_key(self.values[0], painter.name)
            needed = (step for step in self.steps if not step.asset.is_optional)
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
            job_name=self.painting_job_spec.job_name,
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
    """List the backlog of each benchmark that paints."""
    backlogs = (
        PainterBacklog(instance, catalog, assets, benchmark) for benchmark in benchmarks.values()
    )
    return [backlog for backlog in backlogs if backlog.steps]


def describe_missing_price(model: Model, request: Request) -> str | None:
    """Describe the fields of models.yaml that would make a model's price known; None if it is."""
    if compute_cost(model, request, _SOMETHING) is not None:
        return None
    return (
        f"the price of {model.name} is unknown. Give its entry in models.yaml "
        f"{describe_missing_fields(model, request)}, or materialize it yourself."
    )
