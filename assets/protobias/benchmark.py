"""The benchmark ProtoBias, as other packages see it."""

from collections.abc import Iterator
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandInRun
from assets.kit.jobs import JobSpec
from assets.kit.partitions import painters
from assets.kit.picture_tables import PictureTable, to_painted_picture
from assets.kit.step import Step
from assets.protobias.common import (
    EVALUATION_VERSION,
    GROUP,
    QUESTION,
    TITLE,
    asset_key,
    pairs,
    protobias_domains,
)
from assets.protobias.concepts import ProtoConcepts
from assets.protobias.filtered_pairs import FilteredPairs
from assets.protobias.human_scores import FORM, build_human_scores_asset
from assets.protobias.image_pairs import IMAGE_PAIRS, ImagePairs
from assets.protobias.own_scores import FiledScores
from assets.protobias.prompt_triplets import PromptTriplets
from assets.protobias.release import RELEASE_TABLES
from assets.protobias.release_card import CARD
from assets.protobias.report import build_report_asset
from assets.protobias.scorers import is_filed, list_scorers
from assets.protobias.scores import PairScores
from assets.protobias.summary import build_summary_asset
from assets.protobias.training import TRAINING_PAIRS
from generators.prompts.concepts import DOMAINS
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot

_JOB_SPECS = (
    JobSpec(
        job_name="protobias_prompts",
        partitions=protobias_domains,
        assets=("protobias/concepts", "protobias/prompt_triplets"),
        description=(
            "ProtoBias by domain, first: concepts and prompt triplets, once for all painters."
        ),
    ),
    JobSpec(
        job_name="painter_pairs",
        partitions=pairs,
        assets=("protobias/image_pairs", "protobias/filtered_pairs", "protobias/scores_"),
        description=(
            "ProtoBias by domain, second; for a new painter, all that there is to do: "
            "paints, filters and scores its pairs of a domain. painter_summary and "
            "protobias_report come next."
        ),
    ),
    JobSpec(
        job_name="painter_summary",
        partitions=painters,
        assets=("protobias/summary",),
        description="ProtoBias by painter: failure rates, scores and margins of every metric.",
    ),
    JobSpec(
        job_name="protobias_report",
        partitions=None,
        assets=("protobias/report",),
        description="ProtoBias: the report on all painters that are summarized.",
    ),
)
_STAND_IN_CONCEPTS = {"concepts": {"instances": 6}}
_STAND_IN_SAMPLES = {"image_pairs": {"samples": 1}}


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield ProtoConcepts(catalog)
    yield PromptTriplets(catalog)
    yield ImagePairs(catalog)
    yield FilteredPairs(catalog)
    for model in list_scorers(catalog):
        yield (FiledScores if is_filed(model) else PairScores)(catalog, model)


def _assets(catalog: Catalog) -> list[Definition]:
    scorers = list_scorers(catalog)
    return [
        build_human_scores_asset([scorer.name for scorer in scorers]),
        build_summary_asset(scorers),
        build_report_asset(catalog, scorers),
    ]


def _plan_stand_in(catalog: Catalog, painter: str) -> Iterator[StandInRun]:
    """A few concepts of each domain as a stand-in paints them; judges that cost nothing."""
    scores = [f"scores_{judge.name}" for judge in list_scorers(catalog) if judge.is_stand_in]
    for domain in DOMAINS:
        yield StandInRun(("concepts", "prompt_triplets"), domain, _STAND_IN_CONCEPTS)
        assets = ("image_pairs", "filtered_pairs", *scores)
        yield StandInRun(assets, f"{domain}|{painter}", _STAND_IN_SAMPLES)
    yield StandInRun(("summary",), painter)
    yield StandInRun(("report",))


def demo_summary(home: DataRoot, painter: str) -> list[dict[str, Any]]:
    """Count, by domain, the accepted triplets, the pairs of pictures and the kept pairs."""
    return [_row(home, domain, painter) for domain in DOMAINS]


def _row(home: DataRoot, domain: str, painter: str) -> dict[str, Any]:
    triplets = home.table(asset_key("prompt_triplets"), domain, ["outcome"])
    pictures = home.table(
        asset_key("filtered_pairs"), f"{domain}|{painter}", ["pair_id", "pair_kept"]
    )
    pairs = pictures.drop_duplicates("pair_id")["pair_kept"]
    accepted = triplets["outcome"].eq("accepted").sum()
    return {
        "domain": domain,
        "triplets": int(accepted),
        "pairs": len(pairs),
        "kept": int(pairs.sum()),
    }


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
    review_forms=(FORM.review_form,),
    pair_tables=(TRAINING_PAIRS,),
    picture_tables=(
        PictureTable(
            asset=asset_key("image_pairs"),
            columns=IMAGE_PAIRS,
            partitions=DOMAINS,
            to_picture=to_painted_picture,
            by_painter=True,
        ),
    ),
    release_tables=RELEASE_TABLES,
    release_card=CARD,
)
