"""Survival: whether drawn pictures still show their truth after each perturbation.

No code can read what text-to-image models paint. Pictures that are drawn by code are perturbed in
the very same way, and read again by the `measure` of their domain, which is not told what was done.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    MaterializeResult,
    StaticPartitionsDefinition,
)
from pydantic import Field

from assets.frame.biases import SINGLE, Configurations
from assets.frame.common import asset_key, table_asset
from assets.kit.columns import BOOLEAN, TEXT, WHOLE, Columns, to_materialize_result
from assets.kit.previews import markdown_table
from generators.domains import Domain, load_domain, load_domains
from generators.fingerprint import fingerprint
from generators.perturbations.grids import COMMON_PERTURBATIONS, GRID
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import fingerprint_perturbations, to_json
from generators.perturbations.subject import Inapplicable, ObjectBox, Subject
from generators.scene import Scene
from resources.execution.work_loop import WorkKind, finish_work
from resources.settings.image_design import ImageDesign
from resources.settings.run_config import Config
from resources.storage.work_cache import WorkCache, build_work_key

if TYPE_CHECKING:
    from generators.survival import RereadJob

drawn_domains = StaticPartitionsDefinition(list(load_domains()))
"""The domains that are drawn by code."""

SURVIVAL = Columns(
    base_id=(TEXT, "Drawn scene"),
    domain=(TEXT, "The drawn domain"),
    size=(WHOLE, "The longer side in px"),
    perturbation=(TEXT, "Perturbation of the picture"),
    parameters=(TEXT, "Parameters of the perturbation, as JSON"),
    outcome=(TEXT, "right, wrong, unreadable, or inapplicable"),
    reason=(TEXT, "Wrong reading, or reason for a missing one; else empty"),
    exempt=(BOOLEAN, "True if a text or a box covers what is counted"),
    readable=(BOOLEAN, "True if the picture still shows its truth"),
)

MIN_SURVIVAL = 0.95
"""The share of pictures that must stay readable under each perturbation."""
_CHECK = "truths_survive"

RereadOutcome: TypeAlias = tuple[str, str, bool, bool]
"""Outcome, reason, exempt and readable."""


class SurvivalConfig(Config):
    """Scenes to perturb, and the perturbations."""

    scenes: int = Field(default=12, ge=1, description="Scenes per domain, evenly spread over all.")
    size: int = Field(
        default=768, description="Longer side of the drawn pictures in px, at most 4096."
    )
    configurations: Configurations = Field(
        default="single",
        description="single: one configuration per bias. grid: all configurations of the paper.",
    )


def list_perturbations(which: Configurations) -> list[Perturbation]:
    """List the perturbations: every bias of FRAME, then the common ones."""
    biases = (
        [perturbation for configurations in GRID.values() for perturbation in configurations]
        if which == "grid"
        else SINGLE.values()
    )
    return [*biases, *COMMON_PERTURBATIONS]


def build_subject(topic: Domain, scene: Scene, size: int) -> Subject:
    """Build a scene's subject for texts and boxes: its name, first question and outline."""
    return Subject(
        keyword=scene.subject,
        instruction=topic.ask_module.write_questions(scene)[0].text,
        title=topic.format_caption(scene.subject),
        boxes=tuple(ObjectBox(*box, scene.subject) for box in topic.find_outline(scene, size)),
    )


def to_outcome(rereading: "RereadJob") -> RereadOutcome:
    """Reread a perturbed picture; inapplicable if the perturbation cannot be made."""
    from generators.survival import check_survival  # noqa: PLC0415 - slow, and seldom needed

    try:
        result = check_survival(rereading)
    except Inapplicable as why:
        return "inapplicable", str(why), False, False
    return result.outcome, result.reason, result.is_exempt, result.is_readable


def sample_scenes(scenes: Sequence[Scene], number: int) -> list[Scene]:
    """Select `number` scenes, evenly spread; all of them if there are no more."""
    places = np.linspace(0, len(scenes) - 1, min(number, len(scenes)))
    return [scenes[round(place)] for place in places]


def check_survival(rows: Sequence[dict[str, Any]]) -> AssetCheckResult:
    """Fails by an error where a picture reads wrong, by a warning where too many are unreadable."""
    counted = pd.DataFrame([row for row in rows if row["outcome"] != "inapplicable"])
    counted = counted[~counted["exempt"]]
    rates = counted.groupby("parameters", sort=False)["readable"].agg(["sum", "size"])
    few = rates[rates["sum"] < MIN_SURVIVAL * rates["size"]]
    wrong = counted[counted["outcome"].eq("wrong")]
    description = (
        f"{counted['readable'].sum():,} of {len(counted):,} perturbed pictures stay readable."
    )
    if len(few):
        description += f" Fewer than {MIN_SURVIVAL:.0%} of them do under {len(few)} perturbations."
    if len(wrong):
        description += f" {len(wrong)} read wrong, as {wrong['base_id'].iloc[0]}: "
        description += f"{wrong['reason'].iloc[0]}. Mend the measure of their domain."
    return AssetCheckResult(
        check_name=_CHECK,
        passed=not len(few) and not len(wrong),
        severity=AssetCheckSeverity.ERROR if len(wrong) else AssetCheckSeverity.WARN,
        description=description,
        metadata={"below": markdown_table(few.reset_index())},
    )


def _build_reread_jobs(topic: Domain, config: SurvivalConfig, seed: int) -> Iterator["RereadJob"]:
    from generators.survival import RereadJob  # noqa: PLC0415 - slow, and seldom needed

    topic.check_size(config.size)
    for scene in sample_scenes(topic.draw_module.list_scenes(seed), config.scenes):
        subject = build_subject(topic, scene, config.size)
        for perturbation in list_perturbations(config.configurations):
            yield RereadJob(
                scene=scene, size=config.size, perturbations=(perturbation,), subject=subject
            )


def _row(rereading: "RereadJob", reread: RereadOutcome) -> dict[str, Any]:
    outcome, reason, exempt, readable = reread
    return {
        "base_id": rereading.scene.base_id,
        "domain": rereading.scene.domain,
        "size": rereading.size,
        "perturbation": rereading.perturbations[0].name,
        "parameters": to_json(rereading.perturbations),
        "outcome": outcome,
        "reason": reason or None,
        "exempt": exempt,
        "readable": readable,
    }


@table_asset(
    key=asset_key("survival"),
    columns=SURVIVAL,
    partitions=drawn_domains,
    description="Share of pictures drawn by code that code still reads correctly after each "
    "perturbation, without knowing it.",
    check_specs=[
        AssetCheckSpec(
            _CHECK,
            asset=asset_key("survival"),
            description=f"Under each perturbation {MIN_SURVIVAL:.0%} of the pictures stay "
            "readable, not "
            "counting those in which a text or a box covers what is counted; none is read wrongly.",
        )
    ],
)
def survival_asset(
    context: AssetExecutionContext,
    config: SurvivalConfig,
    design: ImageDesign,
    work_cache: WorkCache,
) -> MaterializeResult[pa.Table]:
    """Perturb and read what was not read before. Raises `SizeOutOfRange`."""
    topic = load_domain(context.partition_key)
    code = topic.fingerprint, fingerprint("generators.survival")
    work = {
        build_work_key(
            *(
                "survival",
                *code,
                fingerprint_perturbations(job.perturbations),
                to_json(job.perturbations),
            ),
            *(asdict(job.scene), job.size, asdict(job.subject)),
        ): job
        for job in _build_reread_jobs(topic, config, design.seed)
    }
    kind = WorkKind(load=work.__getitem__, work=to_outcome)
    reread = finish_work(kind, {key: key for key in work}, work_cache)
    rows = [_row(rereading, reread.results[key]) for key, rereading in work.items()]
    table = pd.DataFrame(rows)
    counts = pd.crosstab(table["perturbation"], table["outcome"])
    result = to_materialize_result(
        SURVIVAL.build_table(rows),
        read_now=reread.done,
        by_perturbation=markdown_table(counts.reset_index()),
    )
    return result._replace(check_results=[check_survival(rows)])
