"""The benchmark Philautia-Eval, as other packages see it."""

from collections.abc import Iterator
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandIn
from assets.kit.jobs import Flow
from assets.kit.step import Step
from assets.philautia.captions import Captions
from assets.philautia.common import (
    GROUP,
    QUESTION,
    TITLE,
    captioners_of,
    datasets,
    evaluators_of,
    key,
)
from assets.philautia.pictures import Pictures
from assets.philautia.pomms import pomms_over
from assets.philautia.preference_matrix import CELL, matrix_over
from assets.philautia.rated_captions import RatedCaptions
from assets.philautia.references import CAPTIONERS, EVALUATORS
from assets.philautia.report import report_over
from assets.philautia.scores import Scores
from resources.home import Home
from resources.models.catalog import Catalog

ONCE = ("pictures", "rated_captions")
"""What is made of a dataset once, whoever is asked."""
COMPARED = ("preference_matrix", "pomms")
STANDS_IN = "vlmbias_game_boards"
"""The dataset of the stand-in run: the one that is the quickest to draw."""


def _flows() -> list[Flow]:
    return [
        Flow(
            "philautia_captions",
            datasets(),
            (*(f"{GROUP}/{name}" for name in ONCE), f"{GROUP}/captions_"),
            "Philautia-Eval by dataset, first: its pictures, and what models say that they show. "
            "For one model, select its node in the graph.",
        ),
        Flow(
            "philautia_scores",
            datasets(),
            (f"{GROUP}/scores_",),
            "Philautia-Eval by dataset, second: has judges score the captions of all models.",
        ),
        Flow(
            "philautia_comparison",
            datasets(),
            tuple(f"{GROUP}/{name}" for name in COMPARED),
            "Philautia-Eval by dataset, third: the preference matrix, and panels of judges.",
        ),
        Flow(
            "philautia_report",
            None,
            (f"{GROUP}/report",),
            "Philautia-Eval: the report on all datasets that are compared.",
        ),
    ]


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    yield from (Pictures(catalog), RatedCaptions(catalog))
    for generator in captioners_of(catalog, CAPTIONERS):
        yield Captions(catalog, generator)
    for evaluator in evaluators_of(catalog, EVALUATORS):
        yield Scores(catalog, evaluator)


def _assets(catalog: Catalog) -> list[Definition]:
    generators = captioners_of(catalog, CAPTIONERS)
    evaluators = evaluators_of(catalog, EVALUATORS)
    models = (generators, evaluators)
    return [matrix_over(*models), pomms_over(*models), report_over(*models)]


def _stand_in(catalog: Catalog, painter: str) -> Iterator[StandIn]:
    """Drawn pictures of one topic, described and scored by models that cost nothing."""
    captioners = [each for each in captioners_of(catalog, CAPTIONERS) if each.rehearses]
    names = [each.name for each in captioners if "judge" in each.roles]
    if not names:
        return
    made = [f"{what}_{name}" for what in ("captions", "scores") for name in names]
    yield StandIn((*ONCE, *made, *COMPARED), STANDS_IN)
    yield StandIn(("report",))


def count_made(home: Home, painter: str) -> list[dict[str, Any]]:
    """Of the stand-in run's dataset: pictures, models that wrote captions, and captions scored."""
    matrix = home.find(key("preference_matrix"), STANDS_IN, ["part", "generator", "scored"])
    if matrix is None:
        return []
    cells = matrix[matrix["part"].eq(CELL)]
    return [
        {
            "dataset": STANDS_IN,
            "pictures": len(home.table(key("pictures"), STANDS_IN, ["image_id"])),
            "models": int(cells["generator"].nunique()),
            "scores": int(cells["scored"].sum()),
        }
    ]


BENCHMARK = Benchmark(
    name=GROUP,
    title=TITLE,
    question=QUESTION,
    steps=_steps,
    assets=_assets,
    flows=_flows,
    stand_in=_stand_in,
    made=count_made,
)
