"""Drift: false alarms in a year, and how soon a change of 5 points is found, in simulated years.

A judge's noise is the share of questions that it answers now right, now wrong, each with a chance
of its own, evenly between 0 and 1; the others it answers always right or always wrong. It loses 5
points of accuracy in one of two ways: *some questions* that were always right are wrong from then
on, or *all unsteady questions* are right less often, alike in their log odds: the harder one to
find, since no single question shows it.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.figure import Figure
from metrics.vlmbias.drift import BASELINE_SAMPLES, RepeatedAnswer, find_changes

NOISE = (0.1, 0.2, 0.5)
QUESTIONS, ACCURACY, LOSS = 200, 0.45, 0.05
YEARS = 400
Way: TypeAlias = Literal["some questions", "all unsteady questions"]
WAYS: tuple[Way, ...] = ("some questions", "all unsteady questions")
Chances: TypeAlias = NDArray[np.float64]


class Years(NamedTuple):
    """Simulated years: the months in which a change was found first, 0 where none was."""

    first_months: NDArray[np.int64]

    def share(self, first: int, last: int) -> float:
        """The share of years in which it was from one month to another."""
        is_between = (self.first_months >= first) & (self.first_months <= last)
        return float(is_between.mean())


def figures() -> Iterator[Figure]:
    """False alarms, then changes that were found, by noise."""
    for noise in NOISE:
        alarms = simulate_years(noise, YEARS).share(1, 12)
        name = f"false alarms in a year, {noise:.0%} of questions unsteady"
        yield Figure(name, 100 * alarms, "% of years", limit=5)
    for noise in NOISE:
        for way in WAYS:
            if way == WAYS[1] and noise == NOISE[0]:
                # All of them together hold no more than 5 points.
                continue
            for changed in (2, 7):
                years = simulate_years(noise, YEARS, way, changed)
                name = f"5 points lost in month {changed} by {way}, {noise:.0%} unsteady"
                by_month = (f"{years.share(changed, changed + n):.0%}" for n in range(6))
                yield Figure(
                    name,
                    100 * years.share(changed, changed + 2),
                    "% found in 3 months",
                    note=f"by month: {', '.join(by_month)}",
                )


def simulate_years(noise: float, years: int, way: Way | None = None, changed: int = 0) -> Years:
    """Simulate years of a judge, the same for the same arguments; `changed` is a month from 2."""
    seeds = np.random.SeedSequence([round(100 * noise), changed, len(way or "")]).spawn(years)
    return Years(
        np.array([_simulate(np.random.default_rng(s), noise, way, changed) for s in seeds])
    )


def _simulate(generator: np.random.Generator, noise: float, way: Way | None, changed: int) -> int:
    steady = (generator.random(QUESTIONS) < ACCURACY).astype(float)
    is_unsteady = generator.random(QUESTIONS) < noise
    before = np.where(is_unsteady, generator.random(QUESTIONS), steady)
    after = before if way is None else _lose(generator, before, way)
    answers = {}
    for month in range(1, 13):
        chances = after if way and month >= changed else before
        answers[f"2026-{month:02}"] = [
            RepeatedAnswer(str(question), "right" if is_right else "wrong", int(is_right))
            for _ in range(BASELINE_SAMPLES if month == 1 else 1)
            for question, is_right in enumerate(generator.random(QUESTIONS) < chances)
        ]
    months = (int(test.month[5:]) for test in find_changes(answers) if test.has_changed)
    return next(months, 0)


def _lose(generator: np.random.Generator, before: Chances, way: Way) -> Chances:
    """The chances after a loss of 5 points."""
    after = before.copy()
    if way == "some questions":
        lost = generator.permutation(np.flatnonzero(before == 1))[: round(LOSS * QUESTIONS)]
        after[lost] = 0
        return after
    is_unsteady = (before > 0) & (before < 1)
    odds = before[is_unsteady] / (1 - before[is_unsteady])
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        after[is_unsteady] = middle * odds / (1 + middle * odds)
        low, high = (low, middle) if before.mean() - after.mean() < LOSS else (middle, high)
    return after
