"""What a metric costs above the bare forward pass of its model: CLIPScore by a ViT-L/14.

Bare is the forward pass alone, on tensors that are ready, in batches as large and with as many
threads. Above it is all else: to open and scale pictures, tokens, batching, the call store.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple


class Cost(NamedTuple):
    """Milliseconds for a picture: bare, by the metric, and to open and scale it one by one."""

    bare: float
    scored: float
    prepared: float

    @property
    def above(self) -> float:
        """What the metric costs above the bare forward pass, in percent of that."""
        return 100 * (self.scored / self.bare - 1)


def scoring() -> list[Cost]:
    """The cost in several rounds, in a process of its own: others are spared torch."""
    command = [sys.executable, "-m", "bench.forward"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Cost(*cost) for cost in json.loads(told)]


def middle(costs: Sequence[Cost]) -> Cost:
    """The round in the middle by what the metric costs above the bare forward pass."""
    return sorted(costs, key=lambda cost: cost.above)[len(costs) // 2]
