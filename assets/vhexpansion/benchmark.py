"""The benchmark VHExpansion, as other packages see it."""

from collections.abc import Iterator
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandIn
from assets.kit.jobs import Flow
from assets.kit.step import Step
from assets.vhexpansion.common import GROUP, QUESTION, TITLE, datasets
from assets.vhexpansion.common_perturbations import CommonPerturbations
from assets.vhexpansion.negated_cases import NegatedCases
from assets.vhexpansion.seed_cases import SeedCases
from resources.models.catalog import Catalog

CASES = ("seed_cases", "negated_cases", "common_perturbations")
"""What is made of a dataset once, whoever is asked."""


def _flows() -> list[Flow]:
    return [
        Flow(
            "vhexpansion_cases",
            datasets(),
            tuple(f"{GROUP}/{name}" for name in CASES),
            "VHExpansion by dataset, first: cases, their negations, and pictures perturbed in "
            "common ways, once for all judges.",
        )
    ]


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (SeedCases(catalog), NegatedCases(catalog), CommonPerturbations(catalog))


def _assets(catalog: Catalog) -> list[Definition]:
    return []


def _stand_in(catalog: Catalog, painter: str) -> Iterator[StandIn]:
    yield from ()


BENCHMARK = Benchmark(
    name=GROUP,
    title=TITLE,
    question=QUESTION,
    steps=_steps,
    assets=_assets,
    flows=_flows,
    stand_in=_stand_in,
)
