"""The schedule that once a month looks for new painters, and has made what any painter lacks."""

from collections.abc import Iterator

from dagster import (
    DagsterInstance,
    DefaultScheduleStatus,
    RunRequest,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SkipReason,
    schedule,
)

from assets.kit.partitions import add_painters
from assets.planning.choice import Assets
from resources.models.catalog import CatalogFiles
from resources.models.discovery import poll
from sensors.former_log import take_over
from sensors.landing import PAIRS_JOB, Landing

AT = "0 6 1 * *"
"""At six o'clock (UTC) on the first of each month, when a monthly budget begins anew."""


def monthly(files: CatalogFiles, assets: Assets) -> ScheduleDefinition:
    """The schedule `missing_pairs`; a user turns it on, for it spends money by itself.

    It asks for every partition of ProtoBias's pairs that a painter with a price lacks, earlier
    painters' as well, each in a run of its own, under the budget. What failed in a month is tried
    again in the next. Summary and report follow where the sensor `new_painters` is on.
    """

    @schedule(
        name="missing_pairs",
        job_name=PAIRS_JOB,
        cron_schedule=AT,
        default_status=DefaultScheduleStatus.STOPPED,
        description="Reads the lists of providers for patterns, then paints, filters and scores "
        "what any painter with a price lacks. This spends money: set a budget first.",
    )
    def missing_pairs(context: ScheduleEvaluationContext) -> SkipReason | list[RunRequest]:
        """Raises `CatalogError` where models.yaml is of no use as it is."""
        month = f"{context.scheduled_execution_time:%Y-%m}"
        requests, told = missing(context.instance, files, assets, month)
        for line in told:
            context.log.warning("%s", line)
        if requests:
            return requests
        return SkipReason("\n".join(["No painter lacks what could be made of it now.", *told]))

    return missing_pairs


def missing(
    instance: DagsterInstance, files: CatalogFiles, assets: Assets, month: str
) -> tuple[list[RunRequest], list[str]]:
    """The runs of a month, and what the user should know; new painters get their partitions."""
    take_over(instance)
    told = poll(files).told
    catalog = files.load()
    add_painters(instance, catalog)
    landing = Landing(instance, catalog, assets)
    return list(_requests(landing, month)), [*told, *landing.told]


def _requests(landing: Landing, month: str) -> Iterator[RunRequest]:
    for painter in landing.painters:
        partitions = {f"{domain}|{painter.name}" for domain in landing.domains}
        lacking = {name: landing.lacking(name) for name in sorted(partitions)}
        if not any(lacking.values()) or not landing.may_be_launched(painter):
            continue
        for partition, assets in lacking.items():
            if assets and not landing.is_being_made(partition):
                yield landing.request(f"{month} {partition}", painter, partition, assets)
