"""The batch of a local model whose entry names none: what fits, chosen once and recorded."""

import asyncio
import json

import pytest

from resources.models.backends import default_batch
from resources.models.backends.default_batch import DefaultBatch, fit_batch, record_choice
from tests.resources.models.backends.local_models import entry

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
