"""Models in the shapes of published ones with random weights, built on the GPU where there is one.

Tokenizers, and a painter's text encoders, are those of the tests' tiny models: they are as good as
free beside the rest.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from resources.models.backends.local_models import import_library

ATTACKED_LLAVA: Mapping[str, Any] = {
    "vision_config": {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24}
    | {"num_attention_heads": 16, "image_size": 336, "patch_size": 14, "projection_dim": 768},
    "text_config": {"hidden_size": 4096, "num_hidden_layers": 0, "num_attention_heads": 32}
    | {"intermediate_size": 11_008},
}
"""The shape of llava-hf/llava-1.5-7b-hf without the layers of its language model."""
LLAVA: Mapping[str, Any] = {
    **ATTACKED_LLAVA,
    "text_config": {**ATTACKED_LLAVA["text_config"], "num_hidden_layers": 32},
}
_TINY = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2}
TINY_LLAVA: Mapping[str, Any] = {
    "vision_config": {**LLAVA["vision_config"], **_TINY, "num_attention_heads": 2}
    | {"image_size": 28},
    "text_config": {**LLAVA["text_config"], **_TINY, "num_attention_heads": 2},
}
FLUX: Mapping[str, Any] = {
    "transformer": {"in_channels": 64, "num_layers": 5, "num_single_layers": 17}
    | {"attention_head_dim": 128, "num_attention_heads": 24, "axes_dims_rope": (16, 56, 56)}
    | {"joint_attention_dim": 32, "pooled_projection_dim": 32},
    "vae": {"block_out_channels": (128, 256, 512, 512), "layers_per_block": 2}
    | {"down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4}
    | {"latent_channels": 16, "use_quant_conv": False, "use_post_quant_conv": False}
    | {"shift_factor": 0.1159, "scaling_factor": 0.3611},
}
"""FLUX.1's blocks, 5 and 17 of its 19 and 38, for 4 billion weights, and its autoencoder."""


def save_llava(folder: Path, shape: Mapping[str, Any]) -> int:
    """Save a LLaVA-1.5 of that shape; returns its number of weights."""
    # Before the Hugging Face libraries, which it keeps off the network.
    tiny, transformers = import_module("tests.tiny"), import_library("transformers")
    processor = transformers.LlavaProcessor.from_pretrained(tiny.save_llava(folder / "words"))
    side = shape["vision_config"]["image_size"]
    sides = {"size": {"shortest_edge": side}, "crop_size": {"height": side, "width": side}}
    processor.image_processor = transformers.CLIPImageProcessorPil(**sides)
    processor.patch_size = shape["vision_config"]["patch_size"]
    text = {**shape["text_config"], "vocab_size": len(processor.tokenizer)}
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**shape["vision_config"]),
        text_config=transformers.LlamaConfig(**text),
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
        image_token_index=processor.tokenizer.convert_tokens_to_ids("<image>"),
    )
    device, dtype = _choose_device()
    with device:
        network = transformers.AutoModelForImageTextToText.from_config(config, dtype=dtype)
    network.save_pretrained(folder)
    processor.save_pretrained(folder)
    return count_weights(network)


def save_flux(folder: Path, shape: Mapping[str, Any] | None) -> int:
    """Save a painter of that shape, or the tests' tiny one; returns its number of weights."""
    tiny, diffusers = import_module("tests.tiny"), import_library("diffusers")
    pipeline = diffusers.FluxPipeline.from_pretrained(tiny.save_flux(folder))
    if shape is not None:
        device, dtype = _choose_device()
        with device:
            transformer = diffusers.FluxTransformer2DModel(**shape["transformer"])
            vae = diffusers.AutoencoderKL(**shape["vae"])
        pipeline.register_modules(transformer=transformer.to(dtype), vae=vae.to(dtype))
        pipeline.save_pretrained(folder)
    return count_weights(pipeline.transformer)


def _choose_device() -> tuple[Any, Any]:
    """The device that weights are made on, and their dtype."""
    torch = import_library("torch")
    on_gpu = torch.cuda.is_available()
    return torch.device("cuda" if on_gpu else "cpu"), torch.bfloat16 if on_gpu else torch.float32


def count_weights(network: Any) -> int:
    """Count the weights of a network."""
    return sum(weights.numel() for weights in network.parameters())
