"""Preference of 12 models for captions of their own: 9,000 images × 12 × 12 scores.

Each part runs in a process of its own, with 1,000 rounds of bootstrap and 9,999 matchings; the
simulation is the larger one of `tests/metrics/philautia/test_preference_validity.py`.
"""

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np

from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from metrics import (
    CaptionScores,
    build_growing_panels,
    correlate_ranks,
    greedy_panels,
    matching_tests,
    panel_tables,
)
from metrics.philautia import preference_tables
from metrics.philautia.preference_estimates import estimate_preference

_IMAGES, _MODELS, _CAPTIONS = 9_000, 12, 5_664
_PREFERENCE, _OF_FAMILY = 2.0, 3.0
_SETS = 200
_MOST_S, _MOST_MB = 30, 2_000


def figures() -> Iterator[Figure]:
    """Every part by itself, what all of a matrix takes, and how often intervals hold the truth."""
    total, most = 0.0, 0.0
    for part, what in (
        ("tables", "Φ, Φ̃, preference and families with intervals"),
        ("tests", "permutation tests of the diagonal and three families"),
        ("panels", "panels of 2 to 12 in a given order"),
        ("search", "greedy search of panels"),
    ):
        seconds, peak = in_a_process("bench.preference", part)
        total, most = total + seconds, max(most, peak)
        yield Figure(what, seconds, "s", None, f"{peak:.0f} MB")
    yield Figure("all of a matrix of 1.3 million scores", total, "s", _MOST_S)
    yield Figure("peak memory of these", most, "MB", _MOST_MB)
    seconds, peak = in_a_process("bench.preference", "people")
    yield Figure(f"Kendall's τ of {_CAPTIONS:,} ratings", seconds, "s", None, f"{peak:.0f} MB")
    low, high = in_a_process("bench.preference", "coverage")
    told = f"{low:.1f} to {high:.1f} % of three kinds of sets"
    away = max(abs(low - 95), abs(high - 95))
    yield Figure("95 % intervals: their coverage's distance from it", away, "points", 3, told)


def measure(part: str) -> tuple[float, float]:
    """Seconds of a part and this process's peak in MB; of `coverage` its least and most in %."""
    if part == "coverage":
        rates = [_covered(*each) for each in ((20, 6), (60, 5), (200, 12))]
        return 100 * min(rates), 100 * max(rates)
    scores = _scores(np.random.default_rng(0), _IMAGES, _MODELS)
    work = _PARTS[part]
    started = perf_counter()
    work(scores)
    return perf_counter() - started, peak_megabytes()


def _scores(
    random: np.random.Generator, images: int, models: int, family: int = 4
) -> CaptionScores:
    """Quality, leniency and scale of models, how hard an image is, preference, noise; 1 % lacks.

    So many models in a row are a family.
    """
    quality, leniency = random.normal(0, 5, (models, 1)), random.normal(60, 8, models)
    scale = np.exp(random.uniform(np.log(0.5), np.log(2), models))
    families = np.arange(models) // family
    kin = np.equal.outer(families, families) & ~np.eye(models, dtype=bool)
    truth = leniency + scale * quality + _PREFERENCE * np.eye(models) + _OF_FAMILY * kin
    hard = scale * random.normal(0, 10, (images, models, 1))
    values = truth + hard + random.normal(0, 10, (images, models, models))
    values[random.random(values.shape) < 0.01] = np.nan
    names = [f"model {at}" for at in range(models)]
    names_of_families = map("family {}".format, families)
    return CaptionScores.from_arrays(
        values, names, names, dict(zip(names, names_of_families, strict=True))
    )


def _search(scores: CaptionScores) -> None:
    greedy_panels(scores, [f"{at}.jpg" for at in range(scores.images)])


def _people(scores: CaptionScores) -> None:
    """As Flickr8k-Expert: rated captions of images, each on a scale of ten levels."""
    said = np.round(scores.values[:_CAPTIONS, 0, 0])
    human = np.clip(
        np.round((said - 30) / 7 + np.random.default_rng(1).normal(size=said.size)), 0, 9
    )
    correlate_ranks(said, human, np.arange(_CAPTIONS) // 5)


def _covered(images: int, models: int) -> float:
    """The share of diagonal cells whose interval holds the preference that was put in."""
    random, held = np.random.default_rng(images), []
    for seed in range(_SETS):
        scores = _scores(random, images, models, family=2)
        low, high = estimate_preference(scores, seed=seed, rounds=400).preference.limits
        held.append(np.diagonal((low <= _PREFERENCE) & (high >= _PREFERENCE)).mean())
    return float(np.mean(held))


_PARTS: dict[str, Callable[[CaptionScores], object]] = {
    "tables": preference_tables.build_preference_tables,
    "tests": matching_tests,
    "panels": lambda scores: panel_tables(scores, build_growing_panels(scores.evaluators)),
    "search": _search,
    "people": _people,
}

if __name__ == "__main__":
    answer(measure)
