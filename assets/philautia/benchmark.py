"""The benchmark Philautia-Eval, as other packages see it."""

from collections.abc import Iterator
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandInRun
from assets.kit.collections import find_sample_collection
from assets.kit.jobs import JobSpec
from assets.kit.step import Step
from assets.philautia.captions import CaptionStep
from assets.philautia.common import (
    EVALUATION_VERSION,
    GROUP,
    QUESTION,
    TITLE,
    asset_key,
    dataset_partitions,
    select_captioners,
    select_evaluators,
)
from assets.philautia.pictures import DatasetPictures
from assets.philautia.pomms import build_pomms_asset
from assets.philautia.preference_matrix import CELL, build_matrix_asset
from assets.philautia.rated_captions import RatedCaptions
from assets.philautia.references import CAPTIONERS, EVALUATORS
from assets.philautia.release import RELEASE_TABLES
from assets.philautia.release_card import CARD
from assets.philautia.report import build_report_asset
from assets.philautia.scores import CaptionScoreStep
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot

SHARED_ASSETS = ("pictures", "rated_captions")
"""Assets made once per dataset, whichever models are asked."""
COMPARISON_ASSETS = ("preference_matrix", "pomms")
STAND_IN_DATASET = "vlmbias_game_boards"
"""The drawn dataset of the stand-in run: the one that is the quickest to draw."""


def _build_job_specs() -> list[JobSpec]:
    return [
        JobSpec(
            job_name="philautia_captions",
            partitions=dataset_partitions(),
            assets=(*(f"{GROUP}/{name}" for name in SHARED_ASSETS), f"{GROUP}/captions_"),
            description=(
                "Philautia-Eval by dataset, first: its pictures, and what models say that "
                "they show. For one model, select its node in the graph."
            ),
        ),
        JobSpec(
            job_name="philautia_scores",
            partitions=dataset_partitions(),
            assets=(f"{GROUP}/scores_",),
            description=(
                "Philautia-Eval by dataset, second: has judges score the captions of all models."
            ),
        ),
        JobSpec(
            job_name="philautia_comparison",
            partitions=dataset_partitions(),
            assets=tuple(f"{GROUP}/{name}" for name in COMPARISON_ASSETS),
            description=(
                "Philautia-Eval by dataset, third: the preference matrix, and panels of judges."
            ),
        ),
        JobSpec(
            job_name="philautia_report",
            partitions=None,
            assets=(f"{GROUP}/report",),
            description="Philautia-Eval: the report on all datasets that are compared.",
        ),
    ]


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (DatasetPictures(catalog), RatedCaptions(catalog))
    for generator in select_captioners(catalog, CAPTIONERS):
        yield CaptionStep(catalog, generator)
    for evaluator in select_evaluators(catalog, EVALUATORS):
        yield CaptionScoreStep(catalog, evaluator)


def _assets(catalog: Catalog) -> list[Definition]:
    generators = select_captioners(catalog, CAPTIONERS)
    evaluators = select_evaluators(catalog, EVALUATORS)
    models = (generators, evaluators)
    return [build_matrix_asset(*models), build_pomms_asset(*models), build_report_asset(*models)]


def _plan_stand_in(catalog: Catalog, painter: str) -> Iterator[StandInRun]:
    """Drawn pictures of one topic, and photographs; models that cost nothing."""
    captioners = [model for model in select_captioners(catalog, CAPTIONERS) if model.is_stand_in]
    names = [model.name for model in captioners if "judge" in model.roles]
    if not names:
        return
    model_assets = [f"{prefix}_{name}" for prefix in ("captions", "scores") for name in names]
    for dataset in list_stand_in_datasets():
        # A panel of so few photographs says nothing.
        compared = COMPARISON_ASSETS if dataset == STAND_IN_DATASET else COMPARISON_ASSETS[:1]
        yield StandInRun((*SHARED_ASSETS, *model_assets, *compared), dataset)
    yield StandInRun(("report",))


def list_stand_in_datasets() -> list[str]:
    """The datasets of the stand-in run: a drawn one, and the photographs that come along."""
    sample = find_sample_collection()
    return [STAND_IN_DATASET, *([sample.name] if sample else [])]


def demo_summary(home: DataRoot, painter: str) -> list[dict[str, Any]]:
    """Count each stand-in dataset's pictures, captioning models and scored captions."""
    return [
        row
        for dataset in list_stand_in_datasets()
        if (row := _count_made(home, dataset)) is not None
    ]


def _count_made(home: DataRoot, dataset: str) -> dict[str, Any] | None:
    matrix = home.find(asset_key("preference_matrix"), dataset, ["row_type", "generator", "scored"])
    if matrix is None:
        return None
    cells = matrix[matrix["row_type"].eq(CELL)]
    return {
        "dataset": dataset,
        "pictures": len(home.table(asset_key("pictures"), dataset, ["image_id"])),
        "models": int(cells["generator"].nunique()),
        "scores": int(cells["scored"].sum()),
    }


BENCHMARK = Benchmark(
    name=GROUP,
    title=TITLE,
    question=QUESTION,
    evaluation_version=EVALUATION_VERSION,
    steps=_steps,
    assets=_assets,
    job_specs=_build_job_specs,
    stand_in_runs=_plan_stand_in,
    summarize_demo=demo_summary,
    release_tables=RELEASE_TABLES,
    release_card=CARD,
)
