"""Provenance of a local painter's picture: all that its bits depend on, besides its weights."""

import inspect
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from resources.models.backends.local_models import import_library
from resources.models.requests import EditRequest, PaintRequest

LIBRARIES = ("torch", "diffusers", "transformers", "pillow")


def build_provenance(
    pipeline: Any,
    called: Mapping[str, Any],
    requests: Sequence[PaintRequest | EditRequest],
    seeds: Sequence[int],
) -> dict[str, Any]:
    """Describe what all pictures of a batch share, as JSON values.

    `called` are the parameters of the pipeline's call; `batch` lists the digest of each prompt with
    the seed of its noise, in their order.
    """
    steps = inspect.signature(pipeline.__call__).parameters.get("num_inference_steps")
    return {
        "device": describe_device(pipeline.device),
        "dtype": str(pipeline.dtype).removeprefix("torch."),
        "versions": {name: version(name) for name in LIBRARIES},
        "steps": called.get("num_inference_steps", steps.default if steps else None),
        "batch": [
            [digest_prompt(request.prompt), seed]
            for request, seed in zip(requests, seeds, strict=True)
        ],
    }


def digest_prompt(prompt: str) -> str:
    """The sha256 of a prompt."""
    return sha256(prompt.encode()).hexdigest()


def describe_device(device: Any) -> str:
    """A device with what its arithmetic depends on: a GPU's name, or a CPU's abilities."""
    torch = import_library("torch")
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    if device.type == "cpu":
        ability = torch.backends.cpu.get_cpu_capability()
        return f"cpu ({ability}, {torch.get_num_threads()} threads)"
    return str(device)
