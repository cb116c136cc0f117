"""What others know of FRAME."""

from collections.abc import Iterator
from typing import Any

from assets.frame.common import GROUP, QUESTION, TITLE, frame_domains
from assets.frame.concepts import Concepts
from assets.frame.drafts import Drafts
from assets.frame.instructions import Instructions, review_name
from assets.frame.made import count_made
from assets.frame.perturbed_instructions import PerturbedInstructions
from assets.kit.benchmarks import Benchmark, StandIn
from assets.kit.jobs import Flow
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
)
_WRITTEN = ("concepts", "drafts", "instructions", "perturbed_instructions")
_FEW = {"concepts": {"items": 4, "reserve": 1}}


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (Concepts(catalog), Drafts(catalog), Instructions(catalog))
    yield PerturbedInstructions(catalog)


def _stand_in(catalog: Catalog, painter: str) -> Iterator[StandIn]:
    """A few items of each domain."""
    for domain in DOMAINS:
        yield StandIn(_WRITTEN, domain, _FEW)


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
