"""The sensor that makes a partition of every painter in models.yaml."""

from collections.abc import Callable
from pathlib import Path

from dagster import (
    DefaultSensorStatus,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    sensor,
)

from assets.partitions import painters
from resources.models.catalog import load

EVERY_S = 30


def noticing(models_path: Callable[[], Path]) -> SensorDefinition:
    """The sensor `painters`, which reads models.yaml at each tick.

    It runs unless it is turned off, for it asks no model and starts no run. It adds partitions
    and removes none, since what a painter has made stays after its entry has gone.
    """

    @sensor(
        name="painters",
        minimum_interval_seconds=EVERY_S,
        default_status=DefaultSensorStatus.RUNNING,
        description="Makes a partition of every painter in models.yaml; asks nothing of it.",
    )
    def noticed(context: SensorEvaluationContext) -> SensorResult | SkipReason:
        """Raises `CatalogError` where models.yaml is of no use as it is."""
        listed = [model.name for model in load(models_path()).with_role("painter")]
        known = context.instance.get_dynamic_partitions(str(painters.name))
        new = [name for name in listed if name not in known]
        if not new:
            return SkipReason(f"No new painter: there is {', '.join(known) or 'none yet'}.")
        context.log.info("New painters: %s", ", ".join(new))
        return SensorResult(dynamic_partitions_requests=[painters.build_add_request(new)])

    return noticed
