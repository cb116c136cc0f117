"""The sensor that makes a partition of every painter, and has new ones quoted."""

import time
from typing import Any

from dagster import (
    AssetKey,
    DefaultSensorStatus,
    RunRequest,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    sensor,
)
from pydantic import BaseModel

from assets.kit.partitions import painters
from assets.planning.choice import Assets
from generators.prompts.concepts import DOMAINS
from resources.models.catalog import CatalogFiles, Model
from resources.models.discovery import poll
from resources.models.requests import Paint
from sensors.former_log import take_over
from sensors.landing import FILTERED, IMAGE_PAIRS, Landing, metric_of, price_lacking

EVERY_S = 30
POLL_EVERY_S = 60
"""How often a provider is asked for its list, at most."""


def noticing(files: CatalogFiles, assets: Assets) -> SensorDefinition:
    """The sensor `painters`, which reads models.yaml at each tick, and the lists for its patterns.

    It runs unless it is turned off: it asks no model, reads lists only where the user wrote a
    pattern, and starts no run but quotes, which send nothing. It adds partitions and removes none,
    since what a painter has made stays after its entry has gone.
    """

    @sensor(
        name="painters",
        job_name="quote",
        minimum_interval_seconds=EVERY_S,
        default_status=DefaultSensorStatus.RUNNING,
        description="Makes a partition of every painter in models.yaml, or that a pattern there "
        "finds, and quotes it; asks nothing of it.",
    )
    def noticed(context: SensorEvaluationContext) -> SensorResult | SkipReason:
        """Raises `CatalogError` where models.yaml is of no use as it is."""
        take_over(context.instance)
        polled = _Polled.model_validate_json(context.cursor or "{}")
        if files.load().patterns and time.time() - polled.at >= POLL_EVERY_S:
            polled = _Polled(at=time.time(), told=poll(files).told)
            context.update_cursor(polled.model_dump_json())
            for line in polled.told:
                context.log.warning("%s", line)
        catalog = files.load()
        known = context.instance.get_dynamic_partitions(str(painters.name))
        new = [model for model in catalog.with_role("painter") if model.name not in known]
        if not new:
            said = f"No new painter: there is {', '.join(known) or 'none yet'}."
            return SkipReason("\n".join([said, *polled.told]))
        context.log.info("New painters: %s", ", ".join(model.name for model in new))
        for model in new:
            if lacks := price_lacking(model, Paint("")):
                context.log.warning("%s is never launched by itself: %s", model.name, lacks)
        real = [model for model in new if not model.rehearses]
        landing = Landing(context.instance, catalog, assets)
        return SensorResult(
            dynamic_partitions_requests=[painters.build_add_request([m.name for m in new])],
            run_requests=[_quote(landing, real, assets)] if real and IMAGE_PAIRS in assets else [],
        )

    return noticed


class _Polled(BaseModel):
    """When the lists were read last, and what was said of them then; kept in the cursor."""

    at: float = 0.0
    told: list[str] = []


def _quote(landing: Landing, new: list[Model], assets: Assets) -> RunRequest:
    """The run of the job `quote` that says what ProtoBias would ask of and about new painters."""
    scores = filter(metric_of, assets)
    wanted = [IMAGE_PAIRS, FILTERED, *sorted(scores, key=AssetKey.to_user_string)]
    config: dict[str, Any] = {
        "select": " or ".join(f'key:"{asset.to_user_string()}"' for asset in wanted),
        "partitions": [f"{domain}|{model.name}" for model in new for domain in DOMAINS],
    }
    if landing.ops:
        config["config"] = {"ops": landing.ops}
    return RunRequest(
        run_key=f"quote {' '.join(model.name for model in new)}",
        job_name="quote",
        run_config={"ops": {"quote": {"config": config}}},
        tags={"counterfactory/quoted": " ".join(model.name for model in new)[:255]},
    )
