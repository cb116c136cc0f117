"""The schedules of each month: what painters lack is made, and judges are asked again."""

from collections.abc import Iterator, Sequence

from dagster import (
    AssetKey,
    DagsterInstance,
    DefaultScheduleStatus,
    RunRequest,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SkipReason,
    schedule,
)

from assets.kit.benchmarks import Benchmark, load_benchmarks
from assets.kit.jobs import JobSpec, includes_asset
from assets.kit.partitions import add_painters, is_by_painter, months
from assets.planning.quote_selection import AssetsByKey
from resources.models.catalog import CatalogFiles
from resources.models.discovery import poll_providers
from sensors.painter_backlog import PainterBacklog

CRON = "0 6 1 * *"
"""Time of the schedules: 6:00 UTC on the first of each month, when a monthly budget begins."""


def missing_pictures_schedules(
    files: CatalogFiles, assets: AssetsByKey
) -> list[ScheduleDefinition]:
    """A schedule for each benchmark that paints; a user turns them on, for they spend money.

    Each asks for every partition that a painter with a price lacks, earlier painters' as well, each
    in a run of its own, under the budget. What failed in a month is tried again in the next.
    Summary and report follow where the sensor `new_painters` is on.
    """
    schedules: list[ScheduleDefinition] = []
    for benchmark in load_benchmarks().values():
        # The first of these paints; what is only made when asked for comes after it.
        job_specs = [
            job_spec
            for job_spec in benchmark.build_job_specs(assets)
            if is_by_painter(job_spec.partitions)
        ]
        schedules += [
            _build_schedule(files, assets, benchmark, job_spec) for job_spec in job_specs[:1]
        ]
    return schedules


def _build_schedule(
    files: CatalogFiles, assets: AssetsByKey, benchmark: Benchmark, job_spec: JobSpec
) -> ScheduleDefinition:
    @schedule(
        name=f"missing_{job_spec.job_name.removeprefix('painter_')}",
        job_name=job_spec.job_name,
        cron_schedule=CRON,
        default_status=DefaultScheduleStatus.STOPPED,
        description=f"Looks for new painters, then makes every partition of {benchmark.title} that "
        "a painter with a known price lacks. This spends money: set a budget first.",
    )
    def missing_pictures(context: ScheduleEvaluationContext) -> SkipReason | list[RunRequest]:
        """Raises `CatalogError` if models.yaml cannot be used."""
        month = f"{context.scheduled_execution_time:%Y-%m}"
        requests, messages = request_missing_pictures(
            context.instance, files, assets, benchmark, month
        )
        for line in messages:
            context.log.warning("%s", line)
        if requests:
            return requests
        return SkipReason("\n".join(["No painter lacks what could be made of it now.", *messages]))

    return missing_pictures


def request_missing_pictures(
    instance: DagsterInstance,
    files: CatalogFiles,
    assets: AssetsByKey,
    benchmark: Benchmark,
    month: str,
) -> tuple[list[RunRequest], list[str]]:
    """The runs of a month, and what the user should know; new painters get their partitions."""
    messages = poll_providers(files).warnings
    catalog = files.load()
    add_painters(instance, catalog)
    coverage = PainterBacklog(instance, catalog, assets, benchmark)
    requests = list(_requests(coverage, month)) if coverage.steps else []
    return requests, [*messages, *coverage.messages]


def _requests(coverage: PainterBacklog, month: str) -> Iterator[RunRequest]:
    for painter in coverage.painters:
        partitions = sorted(
            coverage.build_partition_key(value, painter.name) for value in coverage.paintable_values
        )
        lacking = {partition: coverage.find_missing_assets(partition) for partition in partitions}
        if not any(lacking.values()) or not coverage.may_be_launched(painter):
            continue
        for partition, assets in lacking.items():
            if assets and not coverage.has_unfinished_run(partition):
                yield coverage.build_run_request(f"{month} {partition}", painter, partition, assets)


def asking_again_schedules(assets: AssetsByKey) -> list[ScheduleDefinition]:
    """A schedule for each job by month; a user turns them on, for they spend money.

    Each asset by month is made in a run of its own, and a report after it where there is one.
    """
    return [
        _build_asking_schedule(assets, job_spec)
        for benchmark in load_benchmarks().values()
        for job_spec in benchmark.build_job_specs(assets)
        if job_spec.partitions == months
    ]


def _build_asking_schedule(assets: AssetsByKey, job_spec: JobSpec) -> ScheduleDefinition:
    keys = [key for key, asset in assets.items() if includes_asset(job_spec, key, asset)]

    @schedule(
        name=job_spec.job_name,
        job_name=job_spec.job_name,
        cron_schedule=CRON,
        default_status=DefaultScheduleStatus.STOPPED,
        description=f"{job_spec.description} Each judge within its own monthly budget.",
    )
    def ask_again(context: ScheduleEvaluationContext) -> list[RunRequest]:
        month = f"{context.scheduled_execution_time:%Y-%m}"
        return request_month(context.instance, assets, keys, month)

    return ask_again


def request_month(
    instance: DagsterInstance, assets: AssetsByKey, keys: Sequence[AssetKey], month: str
) -> list[RunRequest]:
    """The runs of a month: each judge's, with the reports that were materialized before."""
    following = [
        key
        for key in keys
        if assets[key].partitions_def is None and instance.get_latest_materialization_event(key)
    ]
    return [
        RunRequest(
            run_key=f"{month} {key.to_user_string()}",
            partition_key=month,
            asset_selection=[key, *following],
        )
        for key in keys
        if assets[key].partitions_def == months
    ]
