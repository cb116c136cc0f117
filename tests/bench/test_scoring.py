"""The yardstick of metrics, on a tiny CLIP."""

import os

import pytest

from bench import scoring
from bench.scoring import Cost, middle

pytestmark = pytest.mark.slow

LAYERS = {"hidden_size": 32, "intermediate_size": 37, "num_attention_heads": 2}
TINY = {
    "projection_dim": 24,
    "text_config": LAYERS,
    "vision_config": {**LAYERS, "image_size": 16, "patch_size": 8},
}


def test_a_round_is_the_forward_pass_alone_and_then_the_metric(monkeypatch):
    # As many threads as cores would stay for all later tests of this process, each busily waiting.
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    for name, small in {"PICTURES": 6, "ROUNDS": 2, "SIDE": 64}.items():
        monkeypatch.setattr(scoring, name, small)
    timed = []

    def noting(name, work):
        def noted(*given):
            seconds = work(*given)
            timed.append((name, 1000 * seconds / 6))
            return seconds

        return noted

    monkeypatch.setattr(scoring._Bare, "seconds", noting("bare", scoring._Bare.seconds))
    monkeypatch.setattr(scoring, "_score", noting("scored", scoring._score))
    costs = scoring.rounds(TINY)
    # Each was done once before it counted.
    assert [name for name, _ in timed] == ["bare", "scored"] * 3
    assert [cost[:2] for cost in costs] == [(timed[at][1], timed[at + 1][1]) for at in (2, 4)]
    assert all(min(cost) > 0 for cost in costs)


def test_the_middle_is_by_what_is_above_the_forward_pass():
    costs = [Cost(100, 112, 0), Cost(10, 10.5, 0), Cost(50, 54, 0)]
    assert middle(costs) == costs[2]
    assert round(costs[0].above) == 12
