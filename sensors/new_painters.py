"""The sensor that sees a new painter through ProtoBias, where the user has turned it on."""

from collections.abc import Iterator, Sequence
from typing import Any

from dagster import (
    AssetKey,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    DefaultSensorStatus,
    RunRequest,
    RunsFilter,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    sensor,
)

from assets.kit.partitions import painters, tags_of
from assets.planning.choice import Assets
from assets.protobias.common import key
from assets.protobias.partitions import domain_and_painter
from resources.former_names import partition_now
from resources.models.catalog import Catalog, CatalogFiles, Model
from sensors.former_log import take_over
from sensors.landing import IMAGE_PAIRS, PAINTER, PAIRS_JOB, REPORT_JOB, SUMMARY_JOB, Landing

EVERY_S = 15
SUMMARY, REPORT = key("summary"), key("report")
SUMMARIZED = "counterfactory/summarized"
"""The tag of a run that summarizes a painter, with the run of its pairs that came last."""
REPORTED = "counterfactory/reported"
"""The tag of a run that makes the report, with the run of the summary that it follows."""


def launching(files: CatalogFiles, assets: Assets, jobs: Sequence[Any]) -> SensorDefinition:
    """The sensor `new_painters`; a user turns it on, for it spends money by itself.

    It takes on each painter of which ProtoBias has no pairs yet, and whose price is known: one run
    a domain, then the summary, then the report. A painter that has pairs already is an earlier one
    and left alone. A run that failed, at its budget for one, is told of and not repeated.
    """

    @sensor(
        name="new_painters",
        jobs=list(jobs),
        minimum_interval_seconds=EVERY_S,
        default_status=DefaultSensorStatus.STOPPED,
        description="Paints, filters, scores and reports the pairs of every painter with a price "
        "of which ProtoBias has none yet. This spends money: set a budget first.",
    )
    def new_painters(context: SensorEvaluationContext) -> SensorResult:
        """Raises `CatalogError` where models.yaml is of no use as it is."""
        take_over(context.instance)
        tick = _Tick(context.instance, files.load(), assets)
        requests = [*tick.of_painters(), *tick.of_report()]
        if requests:
            for line in tick.told:
                context.log.warning("%s", line)
            return SensorResult(run_requests=requests)
        return SensorResult(skip_reason="\n".join(tick.told or ["No painter is new."]))

    return new_painters


class _Tick:
    """One look at new painters; `told` is what the user should know."""

    def __init__(self, instance: DagsterInstance, catalog: Catalog, assets: Assets) -> None:
        self._instance = instance
        self._landing = Landing(instance, catalog, assets)
        self.told = self._landing.told

    def of_painters(self) -> Iterator[RunRequest]:
        """Runs for painters that are new, or were when the first of them was launched."""
        begun = {domain_and_painter(name)[1] for name in self._landing.made(IMAGE_PAIRS)}
        for painter in self._landing.painters:
            runs = self._instance.get_runs(RunsFilter(tags={PAINTER: painter.name}))
            if runs or painter.name not in begun:
                yield from self._seen_through(painter, runs)

    def _seen_through(self, painter: Model, runs: Sequence[DagsterRun]) -> Iterator[RunRequest]:
        latest = {_partition_of(run): run for run in reversed(runs)}
        waiting = False
        for domain in self._landing.domains:
            partition = f"{domain}|{painter.name}"
            run, lacking = latest.get(partition), self._landing.lacking(partition)
            if not lacking or (run is not None and run.is_success):
                continue
            waiting = True
            if self._landing.is_being_made(partition):
                self.told.append(f"{partition} is under way.")
            elif run is not None:
                self._tell_of(run, partition, lacking)
            elif self._landing.may_be_launched(painter):
                yield self._landing.request(partition, painter, partition, lacking)
        last = next((run.run_id for run in runs if run.job_name == PAIRS_JOB), None)
        if last is not None and not waiting:
            yield from self._summary(painter, last, runs)

    def _summary(
        self, painter: Model, last: str, runs: Sequence[DagsterRun]
    ) -> Iterator[RunRequest]:
        made = [run for run in runs if run.tags.get(SUMMARIZED) == last]
        if not made:
            yield RunRequest(
                run_key=f"summary {last}",
                job_name=SUMMARY_JOB,
                partition_key=painter.name,
                tags={**tags_of(painter.name, painters), PAINTER: painter.name, SUMMARIZED: last},
            )
        elif made[0].is_failure_or_canceled and painter.name not in self._landing.made(SUMMARY):
            self._tell_of(made[0], painter.name, [SUMMARY])

    def of_report(self) -> Iterator[RunRequest]:
        """The run that makes the report anew, if it lacks the latest summary made here."""
        done = RunsFilter(job_name=SUMMARY_JOB, statuses=[DagsterRunStatus.SUCCESS])
        latest = self._instance.get_run_records(done, limit=1)
        made = self._instance.get_latest_materialization_event(REPORT)
        if not latest or (made and made.timestamp > (latest[0].end_time or 0.0)):
            return
        summary = latest[0].dagster_run.run_id
        runs = self._instance.get_runs(RunsFilter(tags={REPORTED: summary}))
        if not runs:
            yield RunRequest(
                run_key=f"report {summary}",
                job_name=REPORT_JOB,
                tags={REPORTED: summary},
            )
        elif runs[0].is_failure_or_canceled:
            self._tell_of(runs[0], "The report", [REPORT])

    def _tell_of(self, run: DagsterRun, what: str, lacking: Sequence[AssetKey]) -> None:
        names = ", ".join(asset.to_user_string() for asset in lacking)
        self.told.append(
            f"{what}: the run {run.run_id} has failed or was ended, and is not repeated by itself. "
            f"Mend what it says, or raise the budget, then materialize {names} yourself: all that "
            "was paid for is kept, and what follows is made then."
        )


def _partition_of(run: DagsterRun) -> str:
    return partition_now(IMAGE_PAIRS.to_user_string(), run.tags.get("dagster/partition", ""))
