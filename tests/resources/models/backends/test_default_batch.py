"""The batch of a local model whose entry names none: what fits, chosen once and recorded."""

import asyncio
import json
from importlib import import_module

import pytest

from resources.models.backends import build_backend, default_batch, local_models
from resources.models.backends.default_batch import DefaultBatch, fit_batch, record_choice
from resources.models.requests import PaintRequest, compute_call_keys
from tests import tiny
from tests.resources.models.backends.local_models import answers, entry
from tests.tiny import torch

GB = 10**9


@pytest.fixture(autouse=True)
def root(monkeypatch, tmp_path):
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("request_gb", "free_gb", "batch"),
    [(5, 40, 4), (5, 9, 1), (50, 40, 1), (1, 70, default_batch.MAX_DEFAULT_BATCH), (0, 70, 8)],
)
def test_half_of_the_free_memory_is_for_the_batch(request_gb, free_gb, batch):
    assert fit_batch(request_gb * GB, free_gb * GB) == batch


def test_the_first_choice_counts(root):
    assert record_choice("a model on a GPU", 4) == 4
    assert record_choice("a model on a GPU", 8) == 4
    assert record_choice("a model on another", 8) == 8
    recorded = json.loads((root / default_batch.RECORD).read_text())
    assert recorded == {"a model on a GPU": 4, "a model on another": 8}


def test_on_a_cpu_it_is_one_and_nothing_is_recorded(root):
    batch = DefaultBatch(entry("transformers", "unused"))
    assert not asyncio.run(batch.begin("cpu"))
    assert batch.size == 1
    assert not list(root.iterdir())


def test_a_batch_that_is_named_is_part_of_the_key_and_devices_are_not():
    asked = [PaintRequest("a bird", seed=1)]
    model = entry("diffusers", "m")
    same = [model, model.on_device("cuda:1"), model.model_copy(update={"devices": ("cuda:0",)})]
    assert len({key for one in same for key in compute_call_keys(one, asked)}) == 1
    named = [entry("diffusers", "m", batch=batch) for batch in (1, 2)]
    assert len({key for one in (model, *named) for key in compute_call_keys(one, asked)}) == 3


@pytest.mark.slow
def test_the_first_request_on_a_gpu_shows_how_many_fit(root, monkeypatch, tmp_path_factory):
    """The GPU is played: it says what it has, and the model is on the CPU."""
    # Loaded before, the painter puts its pipeline where it always does.
    import_module("resources.models.backends.diffusers")
    monkeypatch.setattr(local_models, "choose_device", lambda _: "cuda:0")
    memory = {
        "get_device_name": "Toy GPU",
        "memory_allocated": 10 * GB,
        "max_memory_allocated": 15 * GB,
        "memory_reserved": 16 * GB,
        "mem_get_info": (34 * GB, 80 * GB),
        "reset_peak_memory_stats": None,
    }
    for name, value in memory.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, value=value: value)
    flux = tiny.save_flux(tmp_path_factory.mktemp("flux"))
    side = {"height": tiny.SIDE, "width": tiny.SIDE}
    painting = {"num_inference_steps": 1, "guidance_scale": 0.0, "max_sequence_length": 32, **side}
    asked = [("paint", PaintRequest("a bird", seed=seed)) for seed in range(6)]
    for sizes in ([1, 1, 4, 4, 4, 4], [2, 2, 4, 4, 4, 4]):
        backend = build_backend(entry("diffusers", flux, **painting), None, None)
        replies = answers(backend, *asked)
        assert sorted(len(reply.provenance["batch"]) for reply in replies) == sizes
    (choice,) = json.loads((root / default_batch.RECORD).read_text()).items()
    assert (choice[0].endswith("on Toy GPU"), choice[1]) == (True, 4)
