"""What others know of FRAME."""

from collections.abc import Iterator
from typing import Any

from assets.frame.biased_images import BiasedImages
from assets.frame.common import GROUP, QUESTION, TITLE, by_source, frame_domains
from assets.frame.concepts import Concepts
from assets.frame.drafts import Drafts
from assets.frame.images import Images
from assets.frame.instructions import Instructions, review_name
from assets.frame.made import count_made
from assets.frame.perturbed_instructions import PerturbedInstructions
from assets.frame.references import REFERENCES
from assets.frame.scores import Scores
from assets.kit.benchmarks import Benchmark, StandIn
from assets.kit.jobs import Flow
from assets.kit.judging import judges_of
from assets.kit.step import Step
from generators.prompts.visual_concepts import DOMAINS
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
        ("frame/",),
        "FRAME by domain and source, second; for a new painter or a collection of your own, all "
        "that there is to do: paints, adds biases, and has judges score.",
    ),
)
_WRITTEN = ("concepts", "drafts", "instructions", "perturbed_instructions")
_FEW = {"concepts": {"items": 4, "reserve": 1}}
_ONE_EACH = {"biased_images": {"configurations": "single"}}


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (Concepts(catalog), Drafts(catalog), Instructions(catalog))
    yield from (PerturbedInstructions(catalog), Images(catalog), BiasedImages(catalog))
    for judge in judges_of(catalog, REFERENCES):
        yield Scores(catalog, judge)


def _stand_in(catalog: Catalog, painter: str) -> Iterator[StandIn]:
    """A few items of each domain, with each bias once; judges that cost nothing."""
    judges = [judge for judge in judges_of(catalog, REFERENCES) if judge.rehearses]
    scores = [f"scores_{judge.name}" for judge in judges]
    for domain in DOMAINS:
        yield StandIn(_WRITTEN, domain, _FEW)
        yield StandIn(("images", "biased_images", *scores), f"{domain}|{painter}", _ONE_EACH)


BENCHMARK = Benchmark(
    name=GROUP,
    title=TITLE,
    question=QUESTION,
    steps=_steps,
    assets=lambda catalog: [],
    flows=_FLOWS,
    stand_in=_stand_in,
    made=count_made,
    reviewed={"instructions": {domain: review_name(domain) for domain in DOMAINS}},
)
