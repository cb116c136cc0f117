"""The benchmark FRAME, as other packages see it."""

from collections.abc import Iterator, Mapping
from typing import Any

from assets.frame.biased_images import BiasedImages
from assets.frame.boxes import Boxes
from assets.frame.combined import Combined
from assets.frame.common import GROUP, QUESTION, TITLE, by_source, frame_domains, key
from assets.frame.concepts import Concepts
from assets.frame.drafts import Drafts
from assets.frame.images import IMAGES, Images
from assets.frame.inflation import inflation_over
from assets.frame.instructions import Instructions, review_name
from assets.frame.mitigation import Mitigation
from assets.frame.pairwise import Pairwise
from assets.frame.perturbed_instructions import PerturbedInstructions
from assets.frame.references import REFERENCES
from assets.frame.report import report_over
from assets.frame.scores import Scores
from assets.frame.search import Search
from assets.frame.survival import drawn_domains
from assets.kit.benchmarks import Benchmark, Definition, StandIn
from assets.kit.jobs import Flow
from assets.kit.judging import judges_of
from assets.kit.partitions import sources
from assets.kit.picture_tables import PictureTable, painted
from assets.kit.step import Step
from generators.prompts.visual_concepts import DOMAINS
from resources.home import Home
from resources.models.catalog import Catalog

_FLOWS = (
    Flow(
        "frame_instructions",
        frame_domains,
        ("frame/",),
        "FRAME by domain, first: concepts, instructions, and instructions of which some concepts "
        "are changed, once for all painters.",
    ),
    Flow(
        "frame_scores",
        by_source,
        ("frame/images", "frame/boxes", "frame/biased_images", "frame/scores_", "frame/search_"),
        "FRAME by domain and source, second; for a new painter or a collection of your own, all "
        "that there is to do: paints, adds biases, has judges score, searches.",
    ),
    Flow(
        "frame_analyses",
        by_source,
        ("frame/combined_", "frame/mitigation_", "frame/pairwise_"),
        "FRAME by domain and source, third: biases combined, other templates, pairs.",
    ),
    Flow(
        "frame_inflation",
        sources,
        ("frame/inflation",),
        "FRAME by source: how far and how often biases raise what judges give.",
    ),
    # After `frame_inflation`: the first flow by source is what sensors take for the summary.
    Flow(
        "frame_human_scores",
        sources,
        ("frame/human_scores",),
        "FRAME by source: writes score sheets for people, and reads those that are filled in.",
    ),
    Flow(
        "frame_survival",
        drawn_domains,
        ("frame/survival",),
        "FRAME by drawn domain: whether pictures still show their truth after each perturbation.",
    ),
    Flow(
        "frame_report",
        None,
        ("frame/report",),
        "FRAME: the report on all sources that are compared.",
    ),
)
_WRITTEN = ("concepts", "drafts", "instructions", "perturbed_instructions")
_FEW = {"concepts": {"items": 4, "reserve": 1}}
_ONE_EACH: Mapping[str, Mapping[str, Any]] = {"biased_images": {"configurations": "single"}}
_ANALYSED = "animals"
_IN_PAIRS: Mapping[str, Mapping[str, Any]] = {**_ONE_EACH, "images": {"samples": 2}}
_ANALYSES = {"combined_gullible": {"biases": ["instruction", "padding"], "sizes": [2]}}
"""The domain that combinations, templates and pairs are shown of, and one pair of biases for all:
each picture that is made takes time."""


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (Concepts(catalog), Drafts(catalog), Instructions(catalog))
    yield from (PerturbedInstructions(catalog), Images(catalog))
    yield from (Boxes(catalog), BiasedImages(catalog))
    for judge in judges_of(catalog, REFERENCES):
        yield from (Scores(catalog, judge), Search(catalog, judge), Combined(catalog, judge))
        yield from (Mitigation(catalog, judge), Pairwise(catalog, judge))


def _assets(catalog: Catalog) -> list[Definition]:
    judges = judges_of(catalog, REFERENCES)
    return [inflation_over(judges), report_over(catalog, judges)]


def _stand_in(catalog: Catalog, painter: str) -> Iterator[StandIn]:
    """A few items of each domain, with each bias once; judges that cost nothing.

    Combinations, templates and pairs are of one domain and judge.
    """
    judges = [judge.name for judge in judges_of(catalog, REFERENCES) if judge.rehearses]
    made = [f"{name}_{judge}" for judge in judges for name in ("scores", "search")]
    for domain in DOMAINS:
        yield StandIn(_WRITTEN, domain, _FEW)
        config = _IN_PAIRS if domain == _ANALYSED else _ONE_EACH
        yield StandIn(("images", "biased_images", *made), f"{domain}|{painter}", config)
    if "gullible" in judges:
        analyses = ("combined_gullible", "mitigation_gullible", "pairwise_gullible")
        yield StandIn(analyses, f"{_ANALYSED}|{painter}", _ANALYSES)
    yield StandIn(("inflation",), painter)
    yield StandIn(("report",))


def count_made(home: Home, painter: str) -> list[dict[str, Any]]:
    """By domain: how many instructions are used, and how many of those are changed."""
    tables = {
        domain: home.table(key("perturbed_instructions"), domain, ["changes"])["changes"]
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
    steps=_steps,
    assets=_assets,
    flows=_FLOWS,
    stand_in=_stand_in,
    made=count_made,
    pictures=(PictureTable(key("images"), IMAGES, [*DOMAINS], painted, by_painter=True),),
    reviewed={"instructions": {domain: review_name(domain) for domain in DOMAINS}},
)
