"""The benchmark FRAME, as other packages see it."""

from collections.abc import Iterator, Mapping
from typing import Any

from assets.frame.biased_images import BiasedImages
from assets.frame.biases import SECOND_REQUEST
from assets.frame.boxes import BoxesStep
from assets.frame.combined import CombinedScores
from assets.frame.common import (
    EVALUATION_VERSION,
    GROUP,
    QUESTION,
    TITLE,
    asset_key,
    by_source,
    frame_domains,
)
from assets.frame.concepts import FrameConcepts
from assets.frame.controls import ControlScores
from assets.frame.drafts import Drafts
from assets.frame.human_scores import FORM as SCORES_FORM
from assets.frame.human_scores import build_human_scores_asset
from assets.frame.images import IMAGES, FrameImages
from assets.frame.inflation import build_inflation_asset
from assets.frame.instructions import FORM as INSTRUCTIONS_FORM
from assets.frame.instructions import Instructions, review_name
from assets.frame.mitigation import MitigationScores
from assets.frame.net_inflation import build_net_inflation_asset
from assets.frame.pairwise import Pairwise
from assets.frame.perturbed_instructions import PerturbedInstructions
from assets.frame.references import STAND_IN_ANSWERS
from assets.frame.release import RELEASE_TABLES
from assets.frame.release_card import CARD
from assets.frame.report import build_report_asset
from assets.frame.scores import FrameScores
from assets.frame.search import ConfigurationSearch
from assets.frame.survival import drawn_domains
from assets.kit.benchmarks import Benchmark, Definition, StandInRun
from assets.kit.collections import collection_key, find_sample_collection
from assets.kit.jobs import JobSpec
from assets.kit.judging import select_judges
from assets.kit.partitions import sources
from assets.kit.picture_tables import PictureTable, to_painted_picture
from assets.kit.step import Step
from generators.prompts.visual_concepts import DOMAINS
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot

_JOB_SPECS = (
    JobSpec(
        job_name="frame_instructions",
        partitions=frame_domains,
        assets=("frame/",),
        description=(
            "FRAME by domain, first: concepts, instructions, and instructions of which "
            "some concepts are changed, once for all painters."
        ),
    ),
    JobSpec(
        job_name="frame_scores",
        partitions=by_source,
        assets=(
            "frame/images",
            "frame/boxes",
            "frame/biased_images",
            "frame/scores_",
            "frame/search_",
            "frame/controls_",
        ),
        description=(
            "FRAME by domain and source, second; for a new painter or a collection of "
            "your own, all that there is to do: paints, adds biases, has judges score, "
            "searches, asks again."
        ),
    ),
    JobSpec(
        job_name="frame_analyses",
        partitions=by_source,
        assets=("frame/combined_", "frame/mitigation_", "frame/pairwise_"),
        description="FRAME by domain and source, third: biases combined, other templates, pairs.",
    ),
    JobSpec(
        job_name="frame_inflation",
        partitions=sources,
        assets=("frame/inflation", "frame/net_inflation"),
        description=(
            "FRAME by source: how far and how often biases raise what judges give, and beyond what "
            "shams and second requests do."
        ),
    ),
    # After `frame_inflation`: sensors take the first job by source for the summary.
    JobSpec(
        job_name="frame_human_scores",
        partitions=sources,
        assets=("frame/human_scores",),
        description=(
            "FRAME by source: writes score sheets for people, and reads those that are filled in."
        ),
    ),
    JobSpec(
        job_name="frame_survival",
        partitions=drawn_domains,
        assets=("frame/survival",),
        description=(
            "FRAME by drawn domain: whether pictures still show their truth after each "
            "perturbation."
        ),
    ),
    JobSpec(
        job_name="frame_report",
        partitions=None,
        assets=("frame/report",),
        description="FRAME: the report on all sources that are compared.",
    ),
)
_WRITTEN = ("concepts", "drafts", "instructions", "perturbed_instructions")
_DEMO_CONFIG = {"concepts": {"items": 4, "reserve": 1}}
_ONE_EACH: Mapping[str, Mapping[str, Any]] = {"biased_images": {"configurations": "single"}}
_ONE_SHAM = {"controls": ["grey_level", SECOND_REQUEST]}
_ANALYSED = "animals"
_IN_PAIRS: Mapping[str, Mapping[str, Any]] = {**_ONE_EACH, "images": {"samples": 2}}
_ANALYSES = {"combined_gullible": {"biases": ["instruction", "padding"], "sizes": [2]}}
"""The domain that combinations, templates and pairs are shown of, and one pair of biases for all:
each picture that is made takes time."""


_PHOTOGRAPHED = ("people", "animals", "indoor", "outdoor")
"""The domains of the photographs that come with this project."""
_COMPARED = ("gullible", "pixels")
"""The stand-in judges of photographs: one that biases move, and one that they do not."""


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (FrameConcepts(catalog), Drafts(catalog), Instructions(catalog))
    yield from (PerturbedInstructions(catalog), FrameImages(catalog))
    yield from (BoxesStep(catalog), BiasedImages(catalog))
    for judge in select_judges(catalog, STAND_IN_ANSWERS):
        yield from (
            FrameScores(catalog, judge),
            ConfigurationSearch(catalog, judge),
            ControlScores(catalog, judge),
            CombinedScores(catalog, judge),
        )
        yield from (MitigationScores(catalog, judge), Pairwise(catalog, judge))


def _assets(catalog: Catalog) -> list[Definition]:
    judges = select_judges(catalog, STAND_IN_ANSWERS)
    return [
        build_human_scores_asset([judge.name for judge in judges]),
        build_inflation_asset(judges),
        build_net_inflation_asset(judges),
        build_report_asset(catalog, judges),
    ]


def _plan_stand_in(catalog: Catalog, painter: str) -> Iterator[StandInRun]:
    """A few items of each domain, and photographs, with each bias once; judges that cost nothing.

    Combinations, templates and pairs are of one domain and judge.
    """
    judges = [judge.name for judge in select_judges(catalog, STAND_IN_ANSWERS) if judge.is_stand_in]
    judge_assets = [f"{name}_{judge}" for judge in judges for name in ("scores", "search")]
    for domain in DOMAINS:
        yield StandInRun(_WRITTEN, domain, _DEMO_CONFIG)
        config = _IN_PAIRS if domain == _ANALYSED else _ONE_EACH
        yield StandInRun(("images", "biased_images", *judge_assets), f"{domain}|{painter}", config)
    if "gullible" in judges:
        analyses = ("combined_gullible", "mitigation_gullible", "pairwise_gullible")
        yield StandInRun(analyses, f"{_ANALYSED}|{painter}", _ANALYSES)
    yield StandInRun(("inflation",), painter)
    if sample := find_sample_collection():
        scored = [name for name in judge_assets if name.endswith(_COMPARED)]
        controls = [f"controls_{name}" for name in _COMPARED if name in judges]
        for domain in _PHOTOGRAPHED:
            yield StandInRun(
                ("images", "biased_images", *scored, *controls),
                f"{domain}|{sample.name}",
                {**_ONE_EACH, **dict.fromkeys(controls, _ONE_SHAM)},
                reads=[collection_key(sample.name)],
            )
        yield StandInRun(("inflation", "net_inflation"), sample.name)
    yield StandInRun(("report",))


def demo_summary(home: DataRoot, painter: str) -> list[dict[str, Any]]:
    """Count, by domain, the instructions in use and those that are changed."""
    tables = {
        domain: home.table(asset_key("perturbed_instructions"), domain, ["changes"])["changes"]
        for domain in DOMAINS
    }
    return [
        {"domain": domain, "instructions": len(changes), "changed": int(changes.gt(0).sum())}
        for domain, changes in tables.items()
    ]


BENCHMARK = Benchmark(
    name=GROUP,
    title=TITLE,
    question=QUESTION,
    evaluation_version=EVALUATION_VERSION,
    steps=_steps,
    assets=_assets,
    job_specs=_JOB_SPECS,
    stand_in_runs=_plan_stand_in,
    summarize_demo=demo_summary,
    picture_tables=(
        PictureTable(
            asset=asset_key("images"),
            columns=IMAGES,
            partitions=[*DOMAINS],
            to_picture=to_painted_picture,
            by_painter=True,
        ),
    ),
    review_files={"instructions": {domain: review_name(domain) for domain in DOMAINS}},
    release_tables=RELEASE_TABLES,
    release_card=CARD,
    review_forms=(INSTRUCTIONS_FORM, SCORES_FORM.review_form),
)
