"""Leaderboards that others keep: which of a benchmark's numbers they take, and the answers behind.

A benchmark declares one in its `BENCHMARK`; `assets/release` writes the files and knows nothing
else of that benchmark.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from resources.models.catalog import Model
from resources.storage.data_root import DataRoot


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredSample:
    """A question, or questions that are scored together, with a judge's replies and their score."""

    sample_id: str
    """Name of the released row, or of the rows that are scored together."""
    partition: str
    """Partition of the benchmark's tables that it is from."""
    picture_sha256: str
    prompts: Sequence[str]
    references: Sequence[str]
    """The right answer to each prompt."""
    replies: Sequence[str]
    """The reply to each prompt."""
    answers: Sequence[str | None]
    """The answer read from each reply; None where none could be read."""
    score: float
    """From 0 to 1, 1 is right."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


SampleLoader: TypeAlias = Callable[[DataRoot, Model, str], Iterable[ScoredSample]]


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """The number by which leaderboards of others rank judges: higher is better."""

    measure: str
    """Name of a measure of the report, a share."""
    config: str
    """Released table whose rows the number is about; likewise `split`."""
    split: str
    list_tasks: Callable[[Sequence[str]], Mapping[str, str]]
    """For the released partitions, the scope of the report's number by the task's name."""
    load_samples: SampleLoader
    """Load what a judge's number of a scope is made from, without requests that have no score."""
