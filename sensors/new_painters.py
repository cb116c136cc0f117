"""The sensor that sees a new painter through every benchmark, where the user has turned it on."""

from collections.abc import Iterator, Sequence
from typing import Any

from dagster import (
    AssetKey,
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

from assets.kit.benchmarks import load_benchmarks
from assets.kit.partitions import BY_PAINTER, is_by_painter, partition_tags
from assets.planning.quote_selection import AssetsByKey
from resources.models.catalog import CatalogFiles, Model
from sensors.painter_backlog import PAINTER_TAG, PainterBacklog, list_backlogs

INTERVAL_S = 15
SUMMARIZED_TAG = "counterfactory/summarized"
"""The tag of a run that summarizes a painter, with the run of its pictures that came last."""
REPORTED_TAG = "counterfactory/reported"
"""The tag of a run that makes the report, with the run of the summary that it follows."""


def new_painters_sensor(
    files: CatalogFiles, assets: AssetsByKey, jobs: Sequence[Any]
) -> SensorDefinition:
    """The sensor `new_painters`; a user turns it on, for it spends money by itself.

    It takes on each painter of which a benchmark has no pictures yet, and whose price is known: one
    run per partition, then its summary and the report, where the benchmark has such. A painter that
    has pictures already is an earlier one and left alone. A run that failed, at its budget for one,
    is reported and not repeated.
    """

    @sensor(
        name="new_painters",
        jobs=list(jobs),
        minimum_interval_seconds=INTERVAL_S,
        default_status=DefaultSensorStatus.STOPPED,
        description="Paints, filters, scores and reports for every painter of known price without "
        "pictures in a benchmark. This spends money: set a budget first.",
    )
    def new_painters(context: SensorEvaluationContext) -> SensorResult:
        """Raises `CatalogError` if models.yaml cannot be used."""
        backlogs = list_backlogs(context.instance, files.load(), assets, load_benchmarks())
        launches = [_PainterLaunch(backlog) for backlog in backlogs]
        requests = [
            request
            for launch in launches
            for request in (*launch.build_painter_runs(), *launch.build_report_runs())
        ]
        messages = [line for backlog in backlogs for line in backlog.messages]
        if requests:
            for line in messages:
                context.log.warning("%s", line)
            return SensorResult(run_requests=requests)
        return SensorResult(skip_reason="\n".join(messages or ["No painter is new."]))

    return new_painters


def select_painter_jobs(jobs: Sequence[Any], assets: AssetsByKey) -> list[Any]:
    """Select the named jobs that the sensor `new_painters` may start."""
    spec_lists = [benchmark.build_job_specs(assets) for benchmark in load_benchmarks().values()]
    job_names = {
        job_spec.job_name
        for job_specs in spec_lists
        if any(is_by_painter(job_spec.partitions) for job_spec in job_specs)
        for job_spec in job_specs
        if is_by_painter(job_spec.partitions)
        or job_spec.partitions in BY_PAINTER
        or job_spec.partitions is None
    }
    return [job for job in jobs if job.name in job_names]


class _PainterLaunch:
    """A tick's look at what a benchmark needs for its new painters."""

    def __init__(self, backlog: PainterBacklog) -> None:
        self._instance, self._backlog = backlog.instance, backlog
        by_painter = map(backlog.find_job_spec, BY_PAINTER)
        self._summary = next(filter(None, by_painter), None)
        self._report = backlog.find_job_spec(None, "/report")

    def build_painter_runs(self) -> Iterator[RunRequest]:
        """Runs for painters that are new, or were when the first of them was launched.

        A painter that was begun by hand gets a summary of what was begun.
        """
        backlog = self._backlog
        begun = {
            backlog.parse_painter(name)
            for name in backlog.list_materialized(backlog.painting_step.key)
        }
        for painter in backlog.painters:
            runs = self._runs(PAINTER_TAG, painter.name)
            is_launched = any(run.job_name == backlog.painting_job_spec.job_name for run in runs)
            if is_launched or painter.name not in begun:
                yield from self._follow_painter(painter, runs)
            else:
                yield from self._follow_by_hand(painter, runs)

    def _runs(self, tag: str, value: str) -> list[DagsterRun]:
        """The runs of this benchmark's jobs with a tag, the latest first."""
        jobs = {
            job_spec.job_name
            for job_spec in (self._backlog.painting_job_spec, self._summary, self._report)
            if job_spec
        }
        runs = self._instance.get_runs(RunsFilter(tags={tag: value}))
        return [run for run in runs if run.job_name in jobs]

    def _follow_painter(self, painter: Model, runs: Sequence[DagsterRun]) -> Iterator[RunRequest]:
        backlog = self._backlog
        latest = {run.tags.get("dagster/partition", ""): run for run in reversed(runs)}
        waiting = False
        for value in backlog.paintable_values:
            partition = backlog.build_partition_key(value, painter.name)
            run, lacking = latest.get(partition), backlog.find_missing_assets(partition)
            if not lacking or (run is not None and run.is_success):
                continue
            waiting = True
            if backlog.has_unfinished_run(partition):
                backlog.messages.append(f"{partition} is under way.")
            elif run is not None:
                self._report_failed(run, partition, lacking)
            elif backlog.may_be_launched(painter):
                # Another benchmark may have a partition of the same name.
                run_key = f"{backlog.benchmark.name} {partition}"
                yield backlog.build_run_request(run_key, painter, partition, lacking)
        last = next(
            (run.run_id for run in runs if run.job_name == backlog.painting_job_spec.job_name), None
        )
        if self._summary is not None and last is not None and not waiting:
            yield from self._build_summary_runs(painter, last, runs)

    def _follow_by_hand(self, painter: Model, runs: Sequence[DagsterRun]) -> Iterator[RunRequest]:
        """The summary of a painter that has none, once all that was begun of it is there."""
        backlog, job_spec = self._backlog, self._summary
        if job_spec is None or painter.name in backlog.list_materialized(
            AssetKey.from_user_string(*job_spec.assets)
        ):
            return
        painted = backlog.list_materialized(backlog.painting_step.key)
        begun = [name for name in painted if backlog.parse_painter(name) == painter.name]
        if not any(
            backlog.find_missing_assets(name) or backlog.has_unfinished_run(name) for name in begun
        ):
            yield from self._build_summary_runs(painter, backlog.find_latest_run(begun), runs)

    def _build_summary_runs(
        self, painter: Model, last: str, runs: Sequence[DagsterRun]
    ) -> Iterator[RunRequest]:
        assert self._summary is not None
        summary_runs = [run for run in runs if run.tags.get(SUMMARIZED_TAG) == last]
        (summary,) = map(AssetKey.from_user_string, self._summary.assets)
        if not summary_runs:
            tags = partition_tags(painter.name, self._summary.partitions)
            yield RunRequest(
                run_key=f"summary {painter.name} {last}",
                job_name=self._summary.job_name,
                partition_key=painter.name,
                tags={**tags, PAINTER_TAG: painter.name, SUMMARIZED_TAG: last},
            )
        elif summary_runs[
            0
        ].is_failure_or_canceled and painter.name not in self._backlog.list_materialized(summary):
            self._report_failed(summary_runs[0], painter.name, [summary])

    def build_report_runs(self) -> Iterator[RunRequest]:
        """The run that makes the report anew, if it lacks the latest summary made here."""
        if self._summary is None or self._report is None:
            return
        report = AssetKey([self._backlog.benchmark.name, "report"])
        done = RunsFilter(job_name=self._summary.job_name, statuses=[DagsterRunStatus.SUCCESS])
        latest = self._instance.get_run_records(done, limit=1)
        report_event = self._instance.get_latest_materialization_event(report)
        if not latest or (report_event and report_event.timestamp > (latest[0].end_time or 0.0)):
            return
        summary = latest[0].dagster_run.run_id
        runs = self._runs(REPORTED_TAG, summary)
        if not runs:
            yield RunRequest(
                run_key=f"report {summary}",
                job_name=self._report.job_name,
                tags={REPORTED_TAG: summary},
            )
        elif runs[0].is_failure_or_canceled:
            self._report_failed(runs[0], "The report", [report])

    def _report_failed(self, run: DagsterRun, subject: str, lacking: Sequence[AssetKey]) -> None:
        names = ", ".join(asset.to_user_string() for asset in lacking)
        self._backlog.messages.append(
            f"{subject}: the run {run.run_id} has failed or was ended, and is not repeated by "
            "itself. Mend what it says, or raise the budget, then materialize "
            f"{names} yourself: all that was paid for is kept, and what follows is made then."
        )
