"""Measures of a reward or a loss besides TRL's own logs, until the next log."""

from collections import defaultdict
from collections.abc import Iterable, Sequence


class Meter:
    """Means by name, and samples of what was said; of this process alone."""

    def __init__(self) -> None:
        self._values = defaultdict[str, list[float]](list)
        self._samples: list[str] = []

    def add(self, name: str, values: Iterable[float]) -> None:
        """Note values, whose mean is reported."""
        self._values[name] += values

    def record_samples(self, samples: Sequence[str]) -> None:
        """Note what was said; the last time counts."""
        self._samples = list(samples)

    def read(self) -> tuple[dict[str, float], list[str]]:
        """The means and samples since the last time."""
        means = {name: sum(values) / len(values) for name, values in self._values.items() if values}
        samples = self._samples
        self._values.clear()
        self._samples = []
        return means, samples
