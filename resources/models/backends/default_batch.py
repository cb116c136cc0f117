"""The batch of a local model whose entry names none: 1 on a CPU, on a GPU what fits its memory.

On a GPU the first request shows how much memory one takes. What is chosen is written down in the
data root, by model and GPU, and taken from there afterwards: bits depend on the batch by rounding.
"""

import asyncio
import json
from hashlib import sha256
from importlib import import_module
from typing import Any

from resources.models.entry import MAX_DEFAULT_BATCH, Model
from resources.settings.locations import find_data_root
from resources.storage.files import read_file, update_file

RECORD = "default_batches.json"
"""File in the data root: the batch chosen for each model and device."""
MEMORY_SHARE = 0.5
"""Share of the free memory that a batch may take, by what its first request took."""


class DefaultBatch:
    """The batch of a local model whose entry names none."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._torch: Any = None
        self._device, self._name = "", ""
        self._allocated = 0
        self.size: int | None = None
        """None until it is known."""

    async def begin(self, device: str) -> bool:
        """Take the recorded batch; else begin to measure, and return that a request is to come."""
        if not device.startswith("cuda"):
            self.size = 1
            return False
        return await asyncio.to_thread(self._begin, device)

    async def choose(self) -> None:
        """Choose the batch by the memory that a request took meanwhile, and record it."""
        await asyncio.to_thread(self._choose)

    def _begin(self, device: str) -> bool:
        self._torch, self._device = import_module("torch"), device
        self._name = name_choice(self._model, self._torch.cuda.get_device_name(device))
        self.size = read_choices().get(self._name)
        if self.size is None:
            self._torch.cuda.reset_peak_memory_stats(device)
            self._allocated = self._torch.cuda.memory_allocated(device)
        return self.size is None

    def _choose(self) -> None:
        cuda, device = self._torch.cuda, self._device
        taken_bytes = cuda.max_memory_allocated(device) - self._allocated
        free_bytes = cuda.mem_get_info(device)[0]
        cached_bytes = cuda.memory_reserved(device) - cuda.memory_allocated(device)
        self.size = record_choice(self._name, fit_batch(taken_bytes, free_bytes + cached_bytes))


def fit_batch(request_bytes: int, free_bytes: int) -> int:
    """The batch of requests of so many bytes that fits free memory, 1 to `MAX_DEFAULT_BATCH`."""
    fitting = int(MEMORY_SHARE * free_bytes / max(request_bytes, 1))
    return max(1, min(MAX_DEFAULT_BATCH, fitting))


def name_choice(model: Model, device_name: str) -> str:
    """Name a model with its parameters on a kind of device, as the record does."""
    parameters = {name: value for name, value in model.parameters.items() if name != "device"}
    digest = sha256(json.dumps([model.backend, parameters], sort_keys=True).encode()).hexdigest()
    return f"{model.model} ({digest[:12]}) on {device_name}"


def read_choices() -> dict[str, int]:
    """Read the recorded batches by name."""
    try:
        choices: dict[str, int] = json.loads(read_file(find_data_root() / RECORD))
    except FileNotFoundError:
        return {}
    return choices


def record_choice(name: str, batch: int) -> int:
    """Record a batch, unless another process has recorded one meanwhile; returns what counts."""
    recorded = batch

    def add(content: bytes | None) -> bytes | None:
        nonlocal recorded
        choices = json.loads(content or b"{}")
        recorded = choices.setdefault(name, batch)
        return json.dumps(choices, indent=1, sort_keys=True).encode() + b"\n"

    update_file(find_data_root() / RECORD, add)
    return recorded
