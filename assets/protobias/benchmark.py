"""The benchmark ProtoBias, as other packages see it."""

from collections.abc import Iterator
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandIn
from assets.kit.jobs import Flow
from assets.kit.partitions import painters
from assets.kit.picture_tables import PictureTable, painted
from assets.kit.step import Step
from assets.protobias.common import GROUP, QUESTION, TITLE, key, pairs, protobias_domains
from assets.protobias.concepts import Concepts
from assets.protobias.filtered import FilteredPairs
from assets.protobias.own_scores import FiledScores
from assets.protobias.pairs import IMAGE_PAIRS, ImagePairs
from assets.protobias.report import report_over
from assets.protobias.scorers import is_filed, scorers
from assets.protobias.scores import Scores
from assets.protobias.summary import summary_over
from assets.protobias.training import TRAINING_PAIRS
from assets.protobias.triplets import PromptTriplets
from generators.prompts.concepts import DOMAINS
from resources.home import Home
from resources.models.catalog import Catalog

_FLOWS = (
    Flow(
        "protobias_prompts",
        protobias_domains,
        ("protobias/concepts", "protobias/prompt_triplets"),
        "ProtoBias by domain, first: concepts and prompt triplets, once for all painters.",
    ),
    Flow(
        "painter_pairs",
        pairs,
        ("protobias/image_pairs", "protobias/filtered_pairs", "protobias/scores_"),
        "ProtoBias by domain, second; for a new painter, all that there is to do: paints, filters "
        "and scores its pairs of a domain. painter_summary and protobias_report come next.",
    ),
    Flow(
        "painter_summary",
        painters,
        ("protobias/summary",),
        "ProtoBias by painter: failure rates, scores and margins of every metric.",
    ),
    Flow(
        "protobias_report",
        None,
        ("protobias/report",),
        "ProtoBias: the report on all painters that are summarized.",
    ),
)
_STAND_IN_CONCEPTS = {"concepts": {"instances": 6}}
_STAND_IN_SAMPLES = {"image_pairs": {"samples": 1}}


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield Concepts(catalog)
    yield PromptTriplets(catalog)
    yield ImagePairs(catalog)
    yield FilteredPairs(catalog)
    for model in scorers(catalog):
        yield (FiledScores if is_filed(model) else Scores)(catalog, model)


def _assets(catalog: Catalog) -> list[Definition]:
    return [summary_over(scorers(catalog)), report_over(catalog, scorers(catalog))]


def _stand_in(catalog: Catalog, painter: str) -> Iterator[StandIn]:
    """A few concepts of each domain as a stand-in paints them; judges that cost nothing."""
    scores = [f"scores_{judge.name}" for judge in scorers(catalog) if judge.rehearses]
    for domain in DOMAINS:
        yield StandIn(("concepts", "prompt_triplets"), domain, _STAND_IN_CONCEPTS)
        made = ("image_pairs", "filtered_pairs", *scores)
        yield StandIn(made, f"{domain}|{painter}", _STAND_IN_SAMPLES)
    yield StandIn(("summary",), painter)
    yield StandIn(("report",))


def count_made(home: Home, painter: str) -> list[dict[str, Any]]:
    """By domain: triplets that passed their checks, pairs of pictures, and how many were kept."""
    return [_row(home, domain, painter) for domain in DOMAINS]


def _row(home: Home, domain: str, painter: str) -> dict[str, Any]:
    triplets = home.table(key("prompt_triplets"), domain, ["outcome"])
    pictures = home.table(key("filtered_pairs"), f"{domain}|{painter}", ["pair_id", "pair_kept"])
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
    steps=_steps,
    assets=_assets,
    flows=_FLOWS,
    stand_in=_stand_in,
    made=count_made,
    pairs=(TRAINING_PAIRS,),
    pictures=(PictureTable(key("image_pairs"), IMAGE_PAIRS, DOMAINS, painted, by_painter=True),),
)
