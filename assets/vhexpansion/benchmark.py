"""The benchmark VHExpansion, as other packages see it."""

from collections.abc import Iterator
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandIn
from assets.kit.step import Step
from assets.vhexpansion.common import GROUP, QUESTION, TITLE
from resources.models.catalog import Catalog


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from ()


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
    stand_in=_stand_in,
)
