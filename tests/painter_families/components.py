"""Parts of tiny pipelines: text encoders with their tokenizers, autoencoders, a scheduler."""

from tests import tiny
from tests.tiny import diffusers, pre_tokenizers, transformers

SIDE = 32
"""Width and height, in px, of what is painted."""
LANGUAGE = {
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "hidden_size": 16,
    "intermediate_size": 24,
    "head_dim": 8,
    "initializer_range": 0.5,
}
_EYES = {"depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2}
_ROPE = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 1e4}
_SEEING = {
    f"{name}_token_id": f"<|{token}|>"
    for name, token in {
        "image": "image_pad",
        "video": "video_pad",
        "vision_start": "vision_start",
        "vision_end": "vision_end",
    }.items()
}
"""Tokens of Qwen2.5-VL around pictures, by their fields of its configuration."""
_CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{{ part.text }}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def clip(kind="CLIPTextModel"):
    tokenizer = tiny.clip_tokenizer()
    return tokenizer, tiny.clip_text(tokenizer, kind)


def t5(width=32):
    tokenizer = tiny.t5_tokenizer()
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=width, d_kv=8, d_ff=37, num_layers=2, num_heads=4
    )
    return tokenizer, transformers.T5EncoderModel(config)


def qwen_tokenizer(*special_tokens):
    tokenizer = transformers.Qwen2Tokenizer().train_new_from_iterator(
        [[tiny.WORDS]],
        400,
        new_special_tokens=["<|im_start|>", "<|im_end|>", *special_tokens],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.chat_template = _CHAT
    return tokenizer


def qwen3(kind, layers=2):
    tokenizer = qwen_tokenizer()
    sizes = LANGUAGE | {"num_hidden_layers": layers}
    config = transformers.Qwen3Config(**sizes, vocab_size=len(tokenizer))
    return tokenizer, getattr(transformers, kind)(config)


def qwen3_vl(layers):
    tokenizer = qwen_tokenizer()
    sizes = LANGUAGE | {"num_hidden_layers": layers}
    config = transformers.Qwen3VLConfig(
        text_config={**sizes, "vocab_size": len(tokenizer), "rope_parameters": _ROPE},
        vision_config={
            **_EYES,
            "out_hidden_size": 16,
            "num_position_embeddings": 16,
            "deepstack_visual_indexes": [],
        },
    )
    return tokenizer, transformers.Qwen3VLModel(config)


def qwen2_vl():
    tokenizer = qwen_tokenizer(*_SEEING.values())
    config = transformers.Qwen2_5_VLConfig(
        text_config={**LANGUAGE, "vocab_size": len(tokenizer), "rope_parameters": _ROPE},
        vision_config={**_EYES, "out_hidden_size": 16},
        **{name: tokenizer.convert_tokens_to_ids(token) for name, token in _SEEING.items()},
    )
    return tokenizer, transformers.Qwen2_5_VLForConditionalGeneration(config)


def qwen2_vl_processor(tokenizer):
    """The processor of pictures and text; it needs torchvision."""
    return transformers.Qwen2VLProcessor(
        transformers.Qwen2VLImageProcessorPil(), tokenizer, transformers.Qwen2VLVideoProcessor()
    )


def gemma2():
    tokenizer = transformers.GemmaTokenizer().train_new_from_iterator([[tiny.WORDS]], 400)
    config = transformers.Gemma2Config(**LANGUAGE, vocab_size=len(tokenizer))
    return tokenizer, transformers.Gemma2Model(config)


def mistral3():
    """The encoder of FLUX.2 with its processor, which needs torchvision."""
    tokenizer = qwen_tokenizer("[IMG]", "[IMG_BREAK]", "[IMG_END]")
    config = transformers.Mistral3Config(
        text_config=transformers.MistralConfig(
            **(LANGUAGE | {"num_hidden_layers": 30}), vocab_size=len(tokenizer)
        ),
        vision_config={**LANGUAGE, "model_type": "pixtral", "num_hidden_layers": 1},
    )
    processor = transformers.PixtralProcessor(
        transformers.PixtralImageProcessorPil(), tokenizer, chat_template=_CHAT
    )
    return processor, transformers.Mistral3ForConditionalGeneration(config)


def autoencoder(blocks=2, **options):
    return diffusers.AutoencoderKL(
        block_out_channels=(4,) * blocks,
        down_block_types=("DownEncoderBlock2D",) * blocks,
        up_block_types=("UpDecoderBlock2D",) * blocks,
        norm_num_groups=1,
        **options,
    )


def flow_autoencoder(blocks=2, channels=4):
    return autoencoder(
        blocks,
        latent_channels=channels,
        use_quant_conv=False,
        use_post_quant_conv=False,
        shift_factor=0.06,
        scaling_factor=1.5,
    )


def flux2_autoencoder():
    return diffusers.AutoencoderKLFlux2(
        block_out_channels=(4, 4),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        layers_per_block=1,
        latent_channels=2,
        norm_num_groups=1,
        use_quant_conv=False,
        use_post_quant_conv=False,
    )


def qwen_autoencoder(blocks=2):
    return diffusers.AutoencoderKLQwenImage(
        base_dim=4,
        z_dim=4,
        dim_mult=[1] * blocks,
        num_res_blocks=1,
        temperal_downsample=[False] * (blocks - 1),
        latents_mean=[0.0] * 4,
        latents_std=[1.0] * 4,
    )


def flow(**options):
    return diffusers.FlowMatchEulerDiscreteScheduler(**options)
