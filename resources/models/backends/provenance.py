"""Provenance of local models: what pictures and answers depend on, besides weights and request."""

import inspect
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from resources.models.backends.local_models import import_library
from resources.models.requests import EditRequest, PaintRequest

_PIXEL_LIMITS = (
    *("do_resize", "size", "crop_size", "min_pixels", "max_pixels", "max_image_size"),
    *("image_grid_pinpoints", "do_image_splitting", "max_image_tiles", "min_patches"),
    *("max_patches", "max_soft_tokens"),
)
"""Fields of image processors that decide how many pixels of a picture are seen."""
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


def describe_chat_model(processor: Any, network: Any) -> dict[str, Any]:
    """Describe what all answers of a local judge depend on beside weights and request."""
    image_processor = getattr(processor, "image_processor", None)
    return {
        "engine": f"transformers {version('transformers')}",
        "versions": {name: version(name) for name in ("torch", "pillow")},
        "device": describe_device(network.device),
        "dtype": str(network.dtype).removeprefix("torch."),
        "attention": getattr(network.config, "_attn_implementation", None),
        "chat_template": digest_template(processor.chat_template),
        **({} if image_processor is None else describe_pixel_limits(image_processor)),
    }


def digest_template(template: Any) -> str:
    """Digest a chat template, or several by name: the first 16 digits of its sha256."""
    return digest_prompt(template if isinstance(template, str) else json.dumps(template))[:16]


def describe_pixel_limits(image_processor: Any) -> dict[str, Any]:
    """Describe to which size an image processor brings pictures: its class and its limits in px."""
    limits = {name: getattr(image_processor, name, None) for name in _PIXEL_LIMITS}
    return {
        "image_processor": type(image_processor).__name__,
        "pixel_limits": {
            name: _to_plain(limit) for name, limit in limits.items() if limit is not None
        },
    }


def _to_plain(limit: Any) -> Any:
    """A limit as JSON: a number, a list, or a mapping of the sides that it states."""
    if isinstance(limit, int | float | str | list | tuple):
        return limit
    return {name: side for name, side in dict(limit).items() if side is not None}


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
