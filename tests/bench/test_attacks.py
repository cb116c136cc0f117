"""The yardstick of attacks, on few pictures, and its part for a GPU without one."""

import pytest

from bench import attacks
from bench.attacks import Taken
from bench.figure import Figure
from tests.tiny import torch

pytestmark = pytest.mark.slow

LAYERS = {"hidden_size": 32, "intermediate_size": 37, "num_attention_heads": 4}
TINY = {
    "vision_config": {**LAYERS, "num_hidden_layers": 2, "image_size": 28, "patch_size": 14},
    "text_config": {**LAYERS, "num_hidden_layers": 0},
}


def test_pictures_are_attacked_on_the_tiny_model(tmp_path, monkeypatch):
    monkeypatch.setattr(attacks, "STEPS", 2)
    taken = attacks.tiny(tmp_path, 3)
    assert taken.pictures == 3
    assert taken.steps_a_second(2) == 6 / taken.seconds
    assert 50 < taken.megabytes < 50_000


def test_a_gpu_attacks_in_batches_and_then_one_by_one(tmp_path, monkeypatch):
    for name, small in {"STEPS": 2, "BATCH": 2, "LLAVA": TINY}.items():
        monkeypatch.setattr(attacks, name, small)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda: None)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 5e6)
    batched, single = attacks.gpu(tmp_path, 4)
    assert (batched.pictures, single.pictures) == (4, 1)
    assert batched.megabytes == 5


def test_rates_are_of_the_papers_steps_and_a_gpu_may_be_missing(monkeypatch):
    found = {"tiny": [[64, 4.0, 500.0], [512, 32.0, 514.0]], "gpu": [None]}
    monkeypatch.setattr(attacks, "in_a_process", lambda module, what, number: found[what].pop(0))
    *measured, batched, single, memory = attacks.figures()
    assert [each.value for each in measured] == [320, 320, 31.25]
    said = "not measured: torch finds no CUDA device here"
    assert all(str(each).endswith(said) for each in (batched, single, memory))
    found |= {
        "tiny": [[64, 4.0, 500.0], [512, 32.0, 514.0]],
        "gpu": [[Taken(64, 12.8, 900.0), Taken(16, 6.4, 100.0)]],
    }
    *_, batched, single, memory = attacks.figures()
    assert isinstance(single, Figure)
    assert (batched.value, single.value, memory.value) == (0.2, 50, 900)
