"""The benchmark Philautia-Eval, as other packages see it."""

from collections.abc import Iterator
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandIn
from assets.kit.step import Step
from assets.philautia.captions import Captions
from assets.philautia.common import GROUP, QUESTION, TITLE, captioners_of, evaluators_of
from assets.philautia.pictures import Pictures
from assets.philautia.pomms import pomms_over
from assets.philautia.preference_matrix import matrix_over
from assets.philautia.rated_captions import RatedCaptions
from assets.philautia.references import CAPTIONERS, EVALUATORS
from assets.philautia.scores import Scores
from resources.models.catalog import Catalog


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (Pictures(catalog), RatedCaptions(catalog))
    for generator in captioners_of(catalog, CAPTIONERS):
        yield Captions(catalog, generator)
    for evaluator in evaluators_of(catalog, EVALUATORS):
        yield Scores(catalog, evaluator)


def _assets(catalog: Catalog) -> list[Definition]:
    generators = captioners_of(catalog, CAPTIONERS)
    evaluators = evaluators_of(catalog, EVALUATORS)
    return [matrix_over(generators, evaluators), pomms_over(generators, evaluators)]


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
