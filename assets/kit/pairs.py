"""Pairs of pictures of which the first fits a text better: what scores are trained on.

A benchmark declares its tables in its `BENCHMARK`; who trains on them finds them there, and knows
nothing else of that benchmark.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dagster import AssetKey, PartitionsDefinition

from resources.storage.data_root import DataRoot


class TrainingPair(NamedTuple):
    """Two pictures of one painter and a text that the correct one fits."""

    pair_id: str
    """The same for every painter."""
    painter: str
    domain: str
    concept_id: str
    concept: str
    knob: str
    setting: str
    """Setting of the scene."""
    sample: int
    """Number of the pair among those of the same sentences, from 0."""
    text: str
    sentences: tuple[str, str]
    """Prompts of the correct and the adversarial picture."""
    correct: str
    adversarial: str
    """The pictures' sha256."""
    evaluated: bool
    """Whether metrics are evaluated on it, so that none may be trained on it."""
    is_stand_in: bool


class PairTable(NamedTuple):
    """A table of such pairs: an asset, and what a partition of it holds."""

    asset: AssetKey
    partitions: PartitionsDefinition[Any]
    load_pairs: Callable[[DataRoot, str], Sequence[TrainingPair]]
    """Load the usable pairs; none of a partition that was never made."""
