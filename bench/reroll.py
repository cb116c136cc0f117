"""Verdicts of `counterfactory reroll` on simulated judges: false accusations, and power."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from bench.figure import Figure
from generators.domains import Domain, load_domain
from generators.scene_pairs import ScenePair, pair_scenes
from generators.topics import PLACED
from metrics import TASK_MEAN, reroll_table

SEEDS = (0, 7)
QUESTIONS = 6
"""Two questions about each of three sizes of a scene."""
_PLACE, _SCENE = 0.2, 0.4
"""Shares of the variance of how hard a question is that its place and its scene make."""
_FALSE, _POWER = 400, 100
_JUDGES = 10


def figures() -> Iterator[Figure]:
    """Shares of simulated comparisons in which a judge is called worse."""
    design, generator = list_questions(), np.random.default_rng(0)
    for right in (0.3, 0.05):
        share = count_accused(design, generator, _JUDGES, (right, right), _FALSE) / _FALSE
        name = f"any of {_JUDGES} clean judges with {right:.0%} right is called worse"
        yield Figure(name, 100 * share, "%", limit=5.0)
    for rights in ((0.9, 0.3), (0.5, 0.3), (0.4, 0.2), (0.2, 0.05)):
        share = count_accused(design, generator, 1, rights, _POWER) / _POWER
        yield Figure(
            "{:.0%} right on the set and {:.0%} on new ones is found".format(*rights),
            100 * share,
            "%",
        )


def list_questions() -> pd.DataFrame:
    """The pairs of questions of both seeds."""
    rows = [
        {"domain": name, "places": pair.places, "scene": pair.fresh.base_id}
        for name in PLACED
        for pair in _pair_topic(load_domain(name))
        for _ in range(QUESTIONS)
    ]
    return pd.DataFrame(rows)


def _pair_topic(topic: Domain) -> list[ScenePair]:
    released, fresh = map(topic.draw_module.list_scenes, SEEDS)
    return pair_scenes(released, fresh, topic.locate_change)


def count_accused(
    design: pd.DataFrame,
    generator: np.random.Generator,
    judges: int,
    rights: tuple[float, float],
    times: int,
) -> int:
    """Count simulated comparisons in which any judge is called worse."""
    accused = 0
    for _ in range(times):
        rows = [
            design.assign(
                model=f"judge {number}",
                **{
                    f"{side}_score": simulate_scores(design, generator, right)
                    for side, right in zip(("released", "fresh"), rights, strict=True)
                },
                released_outcome="answered",
                fresh_outcome="answered",
            )
            for number in range(judges)
        ]
        table = reroll_table(pd.concat(rows))
        means = table[table["topic"].eq(TASK_MEAN)]
        accused += bool((means["p_holm"].le(0.05) & means["high"].lt(0)).any())
    return accused


def simulate_scores(
    design: pd.DataFrame, generator: np.random.Generator, right: float
) -> NDArray[np.float64]:
    """Simulate scores that are right in a share, alike in scenes and places."""
    place, scene = (design[name].factorize()[0] for name in ("places", "scene"))
    parts = ((place, _PLACE), (scene, _SCENE), (np.arange(len(design)), 1 - _PLACE - _SCENE))
    hardness = sum(
        np.sqrt(share) * generator.normal(size=codes.max() + 1)[codes] for codes, share in parts
    )
    return np.asarray(hardness < norm.ppf(right), np.float64)
