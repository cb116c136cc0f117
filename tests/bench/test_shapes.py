"""Models in the shapes of published ones: how large they are, and that such a painter paints."""

import pytest

from bench import shapes
from bench.gpu_sections import LocalCase, loop
from bench.shapes import FLUX, LLAVA, save_flux
from tests.tiny import diffusers, torch, transformers

pytestmark = pytest.mark.slow

SMALL = {
    "transformer": FLUX["transformer"]
    | {"num_layers": 1, "num_single_layers": 1, "attention_head_dim": 16}
    | {"num_attention_heads": 2, "axes_dims_rope": (4, 4, 8)},
    "vae": FLUX["vae"] | {"block_out_channels": (32,) * 4, "layers_per_block": 1},
}


def test_their_weights_are_those_of_the_published_ones():
    with torch.device("meta"):
        painter = diffusers.FluxTransformer2DModel(**FLUX["transformer"])
        judge = transformers.LlavaForConditionalGeneration(
            transformers.LlavaConfig(
                vision_config=transformers.CLIPVisionConfig(**LLAVA["vision_config"]),
                text_config=transformers.LlamaConfig(**LLAVA["text_config"], vocab_size=32_064),
            )
        )
    assert shapes.count_weights(painter) / 1e9 == pytest.approx(4.1, abs=0.1)
    assert shapes.count_weights(judge) / 1e9 == pytest.approx(7.06, abs=0.01)


def test_a_painter_of_another_shape_paints(tmp_path):
    weights = save_flux(tmp_path, SMALL)
    parameters = {"num_inference_steps": 1, "height": 32, "width": 32, "max_sequence_length": 32}
    rate = loop(LocalCase("images", "diffusers", str(tmp_path), parameters, 32, 0.0, ""))
    assert weights > 50_000
    assert rate.per_second > 0
