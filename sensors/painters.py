"""The sensor that makes a partition of every painter, and has new ones quoted."""

import time
from collections.abc import Sequence
from typing import Any

from dagster import (
    DagsterInstance,
    DefaultSensorStatus,
    RunRequest,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    sensor,
)
from pydantic import BaseModel

from assets.kit.benchmarks import load_benchmarks
from assets.kit.partitions import BY_PAINTER, find_new_collections, partition_painters, sources
from assets.planning.quote_selection import AssetsByKey
from resources.models.catalog import Catalog, CatalogFiles, Model
from resources.models.discovery import poll_providers
from resources.models.requests import PaintRequest
from sensors.painter_backlog import (
    QUOTED_TAG,
    PainterBacklog,
    describe_missing_price,
    list_backlogs,
)

INTERVAL_S = 30
POLL_INTERVAL_S = 60
"""Least interval between two requests for a provider's list."""


def painters_sensor(files: CatalogFiles, assets: AssetsByKey) -> SensorDefinition:
    """The sensor `painters`, which reads models.yaml at each tick, and the lists for its patterns.

    It runs unless it is turned off: it asks no model, reads lists only where the user wrote a
    pattern, and starts no run but quotes, which send nothing. It adds partitions and removes none,
    since what a painter has made stays after its entry has gone. It quotes painters that have no
    quote, also where a command was first to make their partitions.
    """

    @sensor(
        name="painters",
        job_name="quote",
        minimum_interval_seconds=INTERVAL_S,
        default_status=DefaultSensorStatus.RUNNING,
        description="Adds a partition for every painter in models.yaml, or found by a pattern "
        "there, and quotes it; sends no request.",
    )
    def noticed(context: SensorEvaluationContext) -> SensorResult | SkipReason:
        """Raises `CatalogError` if models.yaml cannot be used."""
        poll_state = _PollState.model_validate_json(context.cursor or "{}")
        if files.load().patterns and time.time() - poll_state.polled_at >= POLL_INTERVAL_S:
            poll_state = _PollState(polled_at=time.time(), warnings=poll_providers(files).warnings)
            context.update_cursor(poll_state.model_dump_json())
            for line in poll_state.warnings:
                context.log.warning("%s", line)
        catalog = files.load()
        painter_names = partition_painters(context.instance)
        new = [model for model in catalog.select_role("painter") if model.name not in painter_names]
        unquoted = _find_unquoted(context.instance, catalog)
        collections = find_new_collections(context.instance, catalog)
        adding = [sources.build_add_request(collections)] if collections else []
        if not new and not unquoted and collections:
            return SensorResult(dynamic_partitions_requests=adding)
        if not new and not unquoted:
            message = f"No new painter: there is {', '.join(sorted(painter_names)) or 'none yet'}."
            return SkipReason("\n".join([message, *poll_state.warnings]))
        names = [model.name for model in new]
        context.log.info("New painters: %s", ", ".join({*names, *(m.name for m in unquoted)}))
        for model in unquoted:
            if lacks := describe_missing_price(model, PaintRequest("")):
                context.log.warning("%s is never launched by itself: %s", model.name, lacks)
        backlogs = list_backlogs(context.instance, catalog, assets, load_benchmarks())
        return SensorResult(
            dynamic_partitions_requests=[
                *(
                    [partitions_def.build_add_request(names) for partitions_def in BY_PAINTER]
                    if names
                    else []
                ),
                *adding,
            ],
            run_requests=[_quote(backlogs, model) for model in unquoted] if backlogs else [],
        )

    return noticed


class _PollState(BaseModel):
    """Time of the last reading of the lists, and its messages; stored in the cursor."""

    polled_at: float = 0.0
    warnings: list[str] = []


def _find_unquoted(instance: DagsterInstance, catalog: Catalog) -> list[Model]:
    """Painters that have no quote yet, whoever made their partitions; stand-ins need none."""
    tags = dict(instance.get_run_tags(tag_keys=[QUOTED_TAG]))
    quoted_names = tags.get(QUOTED_TAG, set())
    return [
        model
        for model in catalog.select_role("painter")
        if not model.is_stand_in and model.name not in quoted_names
    ]


def _quote(backlogs: Sequence[PainterBacklog], painter: Model) -> RunRequest:
    """The run of the job `quote` that says what benchmarks would ask of and about a painter."""
    names = [step.key.to_user_string() for backlog in backlogs for step in backlog.steps]
    config: dict[str, Any] = {
        "select": " or ".join(f'key:"{name}"' for name in names),
        "partitions": [
            backlog.build_partition_key(value, painter.name)
            for backlog in backlogs
            for value in backlog.values
        ],
    }
    if ops := {
        name: op_config for backlog in backlogs for name, op_config in backlog.ops_config.items()
    }:
        config["config"] = {"ops": ops}
    return RunRequest(
        run_key=f"quote {painter.name}",
        job_name="quote",
        run_config={"ops": {"quote": {"config": config}}},
        tags={QUOTED_TAG: painter.name},
    )
