"""The benchmark VHExpansion, as other packages see it."""

from collections.abc import Iterator, Mapping
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandInRun
from assets.kit.collections import find_sample_collection
from assets.kit.jobs import JobSpec
from assets.kit.judging import select_judges
from assets.kit.step import Step
from assets.kit.tuning import BY_ARM
from assets.vhexpansion.adversarial_perturbations import AdversarialPerturbations
from assets.vhexpansion.answers import CleanAnswers, YesNoAnswers, select_encoders
from assets.vhexpansion.blind_answers import BlindYesNoAnswers
from assets.vhexpansion.common import (
    EVALUATION_VERSION,
    GROUP,
    QUESTION,
    TITLE,
    asset_key,
    dataset_partitions,
    load_question_collections,
)
from assets.vhexpansion.common_perturbations import CommonPerturbations
from assets.vhexpansion.leaderboard import LEADERBOARD
from assets.vhexpansion.mitigation import build_mitigation_asset
from assets.vhexpansion.negated_cases import NegatedCases
from assets.vhexpansion.negation_review import FORM
from assets.vhexpansion.references import STAND_IN_ANSWERS
from assets.vhexpansion.release import RELEASE_TABLES
from assets.vhexpansion.release_card import CARD
from assets.vhexpansion.rephrased_cases import RephrasedCases
from assets.vhexpansion.report import build_report_asset
from assets.vhexpansion.seed_cases import SeedCases
from assets.vhexpansion.symmetry import build_symmetry_asset
from assets.vhexpansion.training import TUNING
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot

CASE_ASSETS = ("seed_cases", "negated_cases", "common_perturbations")
"""Assets made once per dataset, whichever models are asked."""
STAND_IN_DATASETS = ("game_boards", "optical_illusions")
"""The datasets of the stand-in run: those that are the quickest to read from pixels."""
BLIND = ("gullible", "random")
"""The stand-in judges that can answer about photographs, as they look at no picture."""
_BLIND_DATASET = "game_boards"
"""The dataset of the stand-in run that is asked blind: one is enough to show the section."""
_DEMO_CONFIG: Mapping[str, Mapping[str, Any]] = {
    "seed_cases": {"limit": 4},
    # Noise and defocus take seconds to read.
    "common_perturbations": {"reread": False},
    "answers_pixels": {"perturbations": ["none", "hsv_brightness", "jpeg"]},
}


def _build_job_specs() -> list[JobSpec]:
    return [
        JobSpec(
            job_name="vhexpansion_cases",
            partitions=dataset_partitions(),
            assets=tuple(f"{GROUP}/{name}" for name in CASE_ASSETS),
            description=(
                "VHExpansion by dataset, first: cases, their negations, and pictures "
                "perturbed in common ways, once for all judges."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_clean_answers",
            partitions=dataset_partitions(),
            assets=(f"{GROUP}/clean_answers_",),
            description=(
                "VHExpansion by dataset, second, where pictures are attacked: has judges "
                "answer cases as they stand, which says how each is attacked."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_attacks",
            partitions=dataset_partitions(),
            assets=(f"{GROUP}/adversarial_perturbations_",),
            description=(
                "VHExpansion by dataset, third: attacks the pictures for each encoder. Slow "
                "without a GPU."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_answers",
            partitions=dataset_partitions(),
            assets=(f"{GROUP}/answers_", f"{GROUP}/blind_answers_"),
            description=(
                "VHExpansion by dataset: has judges answer cases and negations, of pictures "
                "as they were and perturbed. For one judge, select its node in the graph."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_symmetry",
            partitions=dataset_partitions(),
            assets=(f"{GROUP}/symmetry",),
            description=(
                "VHExpansion by dataset: how often judges are right, and right on both of a pair."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_rephrased_cases",
            partitions=dataset_partitions(),
            assets=(f"{GROUP}/rephrased_cases",),
            description=(
                "VHExpansion by dataset, to fine-tune a judge, first: draws the cases that "
                "are trained on, and has them rephrased."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_training_cases",
            partitions=None,
            assets=(f"{GROUP}/training_cases",),
            description=(
                "VHExpansion, to fine-tune a judge, second: the arms, and the cases that "
                "are held out."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_adapters",
            partitions=BY_ARM,
            assets=(f"{GROUP}/adapter",),
            description=(
                "VHExpansion, to fine-tune a judge, third: adapters by arm and learning rate."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_mitigation",
            partitions=None,
            assets=(f"{GROUP}/mitigation",),
            description=(
                "VHExpansion: what fine-tuning has changed, once adapters and their base "
                "are judged."
            ),
        ),
        JobSpec(
            job_name="vhexpansion_report",
            partitions=None,
            assets=(f"{GROUP}/report",),
            description="VHExpansion: the report on all datasets that were answered.",
        ),
    ]


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (SeedCases(catalog), NegatedCases(catalog), CommonPerturbations(catalog))
    yield RephrasedCases(catalog)
    for encoder in select_encoders(catalog):
        yield AdversarialPerturbations(catalog, encoder)
    for judge in select_judges(catalog, STAND_IN_ANSWERS, has_steps=True):
        yield from (CleanAnswers(catalog, judge), YesNoAnswers(catalog, judge))
        if judge.blind:
            yield BlindYesNoAnswers(catalog, judge)


def _assets(catalog: Catalog) -> list[Definition]:
    judges = select_judges(catalog, STAND_IN_ANSWERS, has_steps=True)
    return [
        build_symmetry_asset(catalog, judges),
        build_mitigation_asset(judges),
        build_report_asset(judges),
    ]


def _plan_stand_in(catalog: Catalog, painter: str) -> Iterator[StandInRun]:
    """A few cases of two drawn domains, and all of photographs; judges that cost nothing."""
    judges = [judge for judge in select_judges(catalog, STAND_IN_ANSWERS) if judge.is_stand_in]
    answers = [f"answers_{judge.name}" for judge in judges]
    blind_answers = [f"answers_{judge.name}" for judge in judges if judge.model in BLIND]
    for dataset in list_stand_in_datasets():
        if dataset in STAND_IN_DATASETS:
            asked_blind = [judge for judge in judges if judge.blind and dataset == _BLIND_DATASET]
            named = [f"blind_answers_{judge.name}" for judge in asked_blind]
            yield StandInRun((*CASE_ASSETS, *answers, *named, "symmetry"), dataset, _DEMO_CONFIG)
        else:
            once = {name: {"repeats": 1} for name in blind_answers}
            yield StandInRun((*CASE_ASSETS, *blind_answers, "symmetry"), dataset, once)
    yield StandInRun(("report",))


def list_stand_in_datasets() -> list[str]:
    """The datasets of the stand-in run: the drawn ones, and the photographs that come along."""
    sample = find_sample_collection()
    is_asked = sample is not None and sample.name in load_question_collections()
    return [*STAND_IN_DATASETS, *([sample.name] if sample and is_asked else [])]


def demo_summary(home: DataRoot, painter: str) -> list[dict[str, Any]]:
    """Count cases, negated cases and perturbed pictures of each dataset of the stand-in run."""
    return [_count_made(home, dataset) for dataset in list_stand_in_datasets()]


def _count_made(home: DataRoot, dataset: str) -> dict[str, Any]:
    cases, negated, pictures = (
        home.table(asset_key(name), dataset, ["outcome"])["outcome"] for name in CASE_ASSETS
    )
    return {
        "dataset": dataset,
        "cases": int(cases.eq("taken").sum()),
        "negated": int(negated.eq("negated").sum()),
        "perturbed pictures": int(pictures.eq("perturbed").sum()),
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
    review_forms=(FORM,),
    panel_assets=("negated_cases",),
    tuning_tables=(TUNING,),
    release_tables=RELEASE_TABLES,
    leaderboard=LEADERBOARD,
    release_card=CARD,
)
