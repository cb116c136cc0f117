"""Tiny checkpoints of families of judges, random weights in each family's own classes.

Sizes are the smallest that the classes take; a chat template writes what the family's own does for
pictures and text, and nothing else.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests import tiny
from tests.tiny import pre_tokenizers, torch, transformers

SIDE, PATCH = 32, 8
"""Edges, in px, of the squares that encoders of one size see, and of a patch."""
LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 4}
LANGUAGE = LAYERS | {"hidden_size": 32, "intermediate_size": 48, "num_key_value_heads": 2}
VISION = LAYERS | {"hidden_size": 16, "intermediate_size": 24}
WORDS = [*f"{tiny.WORDS} user assistant system".split(), *3 * ("Yes", " Yes", "No", " No")]


class Family(NamedTuple):
    """A family: its classes by the beginning of their names, and the pieces of a checkpoint."""

    tokenizer: str
    ends: Mapping[str, str]
    special: Mapping[str, str]
    template: str
    build: Callable[[Any], tuple[Any, Any]]
    """Processor and network for a tokenizer."""


def save(name: str, folder: Path) -> Path:
    """Save a family's checkpoint as its makers save theirs."""
    family = FAMILIES[name]
    torch.manual_seed(0)
    processor, network = family.build(build_tokenizer(family))
    processor.chat_template = family.template
    for part, weights in network.named_parameters():
        # Answers have to depend on what is shown: the usual start is too near to nothing.
        if weights.dim() > 1:
            torch.nn.init.normal_(weights, std=0.03 if "embed_tokens" in part else 0.3)
        elif part.endswith("_gate"):
            torch.nn.init.ones_(weights)
    network.generation_config.update(eos_token_id=processor.tokenizer.eos_token_id)
    network.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def build_tokenizer(family: Family) -> Any:
    """A tokenizer of the family's class, of bytes and a few words."""
    kind = getattr(transformers, family.tokenizer)
    alphabet = [*pre_tokenizers.ByteLevel.alphabet(), "\n"]
    learned = kind().train_new_from_iterator([WORDS], 400, initial_alphabet=alphabet)
    model = json.loads(learned.backend_tokenizer.to_str())["model"]
    merges = [tuple(pair) for pair in model["merges"]]
    return kind(
        vocab=model["vocab"],
        merges=merges,
        **family.ends,
        extra_special_tokens=dict(family.special),
    )


class Thought(NamedTuple):
    """How a chat template has a model think: by a variable, opening a thought or closing it."""

    variable: str
    opened: str
    closed: str


def chat(
    turn: str, picture: str, ask: str, *, begin: str = "", thought: Thought | None = None
) -> str:
    """A chat template: of a turn with CONTENT in it, of a picture, and of what is asked by."""
    if thought:
        is_off = f"{thought.variable} is defined and not {thought.variable}"
        ask += f"{{% if {is_off} %}}{thought.closed}{{% else %}}{thought.opened}{{% endif %}}"
        is_answer = "turn.role == 'assistant' and loop.last"
        turn = turn.replace(
            "CONTENT", f"{{% if {is_answer} %}}{thought.closed}{{% endif %}}CONTENT"
        )
    content = (
        "{% if turn.content is string %}{{ turn.content }}{% else %}"
        "{% for part in turn.content %}{% if part.type == 'image' %}" + picture + "{% else %}"
        "{{ part.text }}{% endif %}{% endfor %}{% endif %}"
    )
    return (
        begin
        + "{% for turn in messages %}"
        + turn.replace("CONTENT", content)
        + "{% endfor %}{% if add_generation_prompt %}"
        + ask
        + "{% endif %}"
    )


def chatml(picture: str, thought: Thought | None = None) -> str:
    """A chat template as Qwen's, of turns between `<|im_start|>` and `<|im_end|>`."""
    turn = "<|im_start|>{{ turn.role }}\nCONTENT<|im_end|>\n"
    return chat(turn, picture, "<|im_start|>assistant\n", thought=thought)


def _ids(tokenizer: Any, **names: str) -> dict[str, int]:
    """A configuration's ids of tokens."""
    return {field: tokenizer.convert_tokens_to_ids(token) for field, token in names.items()}


def _language(tokenizer: Any, **more: Any) -> dict[str, Any]:
    return {
        **LANGUAGE,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 2048,
        **{
            f"{name}_token_id": getattr(tokenizer, f"{name}_token_id")
            for name in ("bos", "eos", "pad")
        },
        **more,
    }


def _square(name: str, **more: Any) -> Any:
    """An image processor that makes squares."""
    return getattr(transformers, name)(size={"height": SIDE, "width": SIDE}, **more)


# Qwen

QWEN = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
QWEN_SPECIAL = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_start": "<|vision_start|>",
    "vision_end": "<|vision_end|>",
    "turn_start": "<|im_start|>",
}
QWEN_PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"
QWEN_THOUGHT = Thought("enable_thinking", "<think>\n", "<think>\n\n</think>\n\n")
QWEN_PATCHES = {"patch_size": PATCH, "merge_size": 2, "temporal_patch_size": 2}
AREA = {"shortest_edge": (2 * PATCH) ** 2, "longest_edge": 64**2}
ROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}


def _qwen(tokenizer: Any, *, name: str, vision: Any, language: Any) -> tuple[Any, Any]:
    kind = name if "VL" in name else "Qwen3VL"
    picture = "Qwen3VL" if "3" in name else "Qwen2VL"
    processor = getattr(transformers, f"{kind.removesuffix('Moe')}Processor")(
        transformers.Qwen2VLImageProcessor(size=AREA, **QWEN_PATCHES),
        tokenizer,
        getattr(transformers, f"{picture}VideoProcessor")(size=AREA, **QWEN_PATCHES),
    )
    config = getattr(transformers, f"{name}Config")(
        vision_config={
            "depth": 2,
            "num_heads": 2,
            "hidden_size": 16,
            "patch_size": PATCH,
            **vision,
        },
        text_config=_language(tokenizer, rope_parameters=ROPE, **language),
        **_ids(
            tokenizer,
            image_token_id="<|image_pad|>",
            video_token_id="<|video_pad|>",
            vision_start_token_id="<|vision_start|>",
            vision_end_token_id="<|vision_end|>",
        ),
    )
    return processor, getattr(transformers, f"{name}ForConditionalGeneration")(config)


def _qwen_family(name: str, vision: Mapping[str, Any], **language: Any) -> Family:
    build = partial(_qwen, name=name, vision=vision, language=language)
    template = chatml(QWEN_PICTURE, QWEN_THOUGHT if "3_5" in name else None)
    return Family("Qwen2Tokenizer", QWEN, QWEN_SPECIAL, template, build)


QWEN3_VISION = {"intermediate_size": 24, "out_hidden_size": 32, "num_position_embeddings": 16}
DEEPSTACK = {"deepstack_visual_indexes": [0, 1]}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
DELTA_NET = {
    "layer_types": ["linear_attention", "full_attention"],
    "head_dim": 8,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}

# Google

GEMMA = {"bos_token": "<bos>", "eos_token": "<end_of_turn>", "pad_token": "<pad>"}
GEMMA_SPECIAL = {
    "image_token": "<image_soft_token>",
    "boi_token": "<start_of_image>",
    "eoi_token": "<end_of_image>",
    "turn_start": "<start_of_turn>",
}
GEMMA_CHAT = chat(
    "<start_of_turn>{{ 'model' if turn.role == 'assistant' else turn.role }}\n"
    "CONTENT<end_of_turn>\n",
    "<start_of_image>",
    "<start_of_turn>model\n",
    begin="{{ bos_token }}",
)


def _gemma3(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.Gemma3Processor(
        _square("Gemma3ImageProcessor"), tokenizer, image_seq_length=4
    )
    config = transformers.Gemma3Config(
        vision_config={**VISION, "image_size": SIDE, "patch_size": PATCH, "vision_use_head": False},
        text_config=_language(
            tokenizer,
            head_dim=8,
            sliding_window=32,
            layer_types=["sliding_attention", "full_attention"],
        ),
        mm_tokens_per_image=4,
        **_ids(
            tokenizer,
            image_token_index="<image_soft_token>",
            boi_token_index="<start_of_image>",
            eoi_token_index="<end_of_image>",
        ),
    )
    return processor, transformers.Gemma3ForConditionalGeneration(config)


GEMMA4 = {"bos_token": "<bos>", "eos_token": "<turn|>", "pad_token": "<pad>"}
GEMMA4_SPECIAL = {
    "image_token": "<|image|>",
    "boi_token": "<|image>",
    "eoi_token": "<image|>",
    "audio_token": "<|audio|>",
    "boa_token": "<|audio>",
    "eoa_token": "<audio|>",
    "turn_start": "<|turn>",
}
GEMMA4_CHAT = chat(
    "<|turn>{{ 'model' if turn.role == 'assistant' else turn.role }}\nCONTENT<turn|>\n",
    "<|image|>",
    "<|turn>model\n",
    begin="{{ bos_token }}",
)


def _gemma4(tokenizer: Any) -> tuple[Any, Any]:
    tokens = {"patch_size": PATCH, "max_soft_tokens": 70, "pooling_kernel_size": 3}
    processor = transformers.Gemma4Processor(
        transformers.Gemma4AudioFeatureExtractor(),
        transformers.Gemma4ImageProcessor(**tokens),
        tokenizer,
        transformers.Gemma4VideoProcessor(**tokens),
        image_seq_length=70,
    )
    config = transformers.Gemma4Config(
        vision_config={
            **VISION,
            "patch_size": PATCH,
            "head_dim": 8,
            "num_key_value_heads": 4,
            "position_embedding_size": 256,
        },
        text_config=_language(
            tokenizer,
            head_dim=8,
            global_head_dim=8,
            sliding_window=32,
            layer_types=["sliding_attention", "full_attention"],
            hidden_size_per_layer_input=8,
            vocab_size_per_layer_input=len(tokenizer),
        ),
        audio_config=None,
        **_ids(
            tokenizer,
            image_token_id="<|image|>",
            boi_token_id="<|image>",
            eoi_token_id="<image|>",
            video_token_id="<|video|>",
            audio_token_id="<|audio|>",
            boa_token_id="<|audio>",
            eoa_token_index="<audio|>",
        ),
    )
    return processor, transformers.Gemma4ForConditionalGeneration(config)


def _paligemma(tokenizer: Any) -> tuple[Any, Any]:
    pictures = _square("SiglipImageProcessor")
    pictures.image_seq_length = (SIDE // PATCH) ** 2
    processor = transformers.PaliGemmaProcessor(pictures, tokenizer)
    config = transformers.PaliGemmaConfig(
        vision_config={
            **VISION,
            "model_type": "siglip_vision_model",
            "image_size": SIDE,
            "patch_size": PATCH,
            "projection_dim": 32,
            "vision_use_head": False,
        },
        text_config=_language(tokenizer, model_type="gemma", head_dim=8),
        projection_dim=32,
        **_ids(tokenizer, image_token_index="<image>"),
    )
    return processor, transformers.PaliGemmaForConditionalGeneration(config)


# The LLaVA kind: an encoder of squares, a connector, and a language model of the shelf


def _clip(**more: Any) -> dict[str, Any]:
    return {
        **VISION,
        "model_type": "clip_vision_model",
        "image_size": SIDE,
        "patch_size": PATCH,
        "projection_dim": 32,
        **more,
    }


def _llava(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.LlavaProcessor(
        transformers.CLIPImageProcessor(
            size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
        ),
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    config = transformers.LlavaConfig(
        vision_config=_clip(),
        text_config=_language(tokenizer, model_type="llama"),
        **_ids(tokenizer, image_token_index="<image>"),
    )
    return processor, transformers.LlavaForConditionalGeneration(config)


GRIDS = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]


def _llava_next(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.LlavaNextProcessor(
        transformers.LlavaNextImageProcessor(
            size={"shortest_edge": SIDE},
            crop_size={"height": SIDE, "width": SIDE},
            image_grid_pinpoints=GRIDS,
        ),
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    config = transformers.LlavaNextConfig(
        vision_config=_clip(),
        text_config=_language(tokenizer, model_type="mistral"),
        image_grid_pinpoints=GRIDS,
        **_ids(tokenizer, image_token_index="<image>"),
    )
    return processor, transformers.LlavaNextForConditionalGeneration(config)


def _llava_onevision(tokenizer: Any) -> tuple[Any, Any]:
    grids = [*GRIDS, [SIDE, SIDE]]
    processor = transformers.LlavaOnevisionProcessor(
        _square("LlavaOnevisionImageProcessor", image_grid_pinpoints=grids),
        tokenizer,
        _square("LlavaOnevisionVideoProcessor"),
        num_image_tokens=(SIDE // PATCH) ** 2,
        vision_feature_select_strategy="full",
    )
    config = transformers.LlavaOnevisionConfig(
        vision_config=_clip(model_type="siglip_vision_model", vision_use_head=False),
        text_config=_language(tokenizer, model_type="qwen2"),
        image_grid_pinpoints=grids,
        **_ids(tokenizer, image_token_index="<image>", video_token_index="<video>"),
    )
    return processor, transformers.LlavaOnevisionForConditionalGeneration(config)


LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
LLAVA_CHAT = chat(
    "{{ turn.role | upper }}: CONTENT{{ ' ' if turn.role == 'user' else eos_token }}",
    "<image>\n",
    "ASSISTANT:",
    begin="{{ bos_token }}",
)
MISTRAL_CHAT = chat(
    "{% if turn.role == 'user' %}[INST] CONTENT [/INST]"
    "{% else %} CONTENT{{ eos_token }}{% endif %}",
    "<image>\n",
    "",
    begin="{{ bos_token }}",
)

INTERNVL_SPECIAL = {
    "start_image_token": "<img>",
    "end_image_token": "</img>",
    "context_image_token": "<IMG_CONTEXT>",
    "video_token": "<video>",
    "turn_start": "<|im_start|>",
}


def _internvl(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.InternVLProcessor(
        _square("GotOcr2ImageProcessor", crop_to_patches=True, max_patches=4),
        tokenizer,
        _square("InternVLVideoProcessor"),
        image_seq_length=4,
    )
    config = transformers.InternVLConfig(
        vision_config={**VISION, "image_size": [SIDE, SIDE], "patch_size": [PATCH, PATCH]},
        text_config=_language(tokenizer, model_type="qwen2"),
        image_seq_length=4,
        **_ids(tokenizer, image_token_id="<IMG_CONTEXT>"),
    )
    return processor, transformers.InternVLForConditionalGeneration(config)


IDEFICS_SPECIAL = {
    "fake_image_token": "<fake_token_around_image>",
    "image_token": "<image>",
    "global_image_token": "<global-img>",
    "end_of_utterance_token": "<end_of_utterance>",
    "turn_start": "<|im_start|>",
    "video_token": "<video>",
}
SMOLVLM_CHAT = chat(
    "{{ turn.role | capitalize }}{{ ':' if turn.content[0].type == 'image' else ': ' }}"
    "CONTENT<end_of_utterance>\n",
    "<image>",
    "Assistant:",
    begin="<|im_start|>",
)


def _smolvlm(tokenizer: Any) -> tuple[Any, Any]:
    edges = {"size": {"longest_edge": 2 * SIDE}, "max_image_size": {"longest_edge": SIDE}}
    processor = transformers.SmolVLMProcessor(
        transformers.SmolVLMImageProcessor(**edges),
        tokenizer,
        transformers.SmolVLMVideoProcessor(**edges),
        image_seq_len=4,
    )
    config = transformers.SmolVLMConfig(
        vision_config={**VISION, "image_size": SIDE, "patch_size": PATCH},
        text_config=_language(tokenizer, model_type="llama"),
        scale_factor=2,
        **_ids(tokenizer, image_token_id="<image>"),
    )
    return processor, transformers.SmolVLMForConditionalGeneration(config)


LFM2_SPECIAL = {
    "image_token": "<image>",
    "image_start_token": "<|image_start|>",
    "image_end_token": "<|image_end|>",
    "image_thumbnail_token": "<|img_thumbnail|>",
    "turn_start": "<|im_start|>",
}


def _lfm2_vl(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.Lfm2VlProcessor(
        _square(
            "Lfm2VlImageProcessor",
            tile_size=SIDE,
            encoder_patch_size=PATCH,
            min_image_tokens=2,
            max_image_tokens=4,
            max_num_patches=64,
        ),
        tokenizer,
    )
    config = transformers.Lfm2VlConfig(
        vision_config={
            **VISION,
            "model_type": "siglip2_vision_model",
            "patch_size": PATCH,
            "num_patches": 16,
            "vision_use_head": False,
        },
        text_config=_language(
            tokenizer,
            model_type="lfm2",
            layer_types=["conv", "full_attention"],
            block_multiple_of=8,
        ),
        projector_hidden_size=32,
        **_ids(tokenizer, image_token_id="<image>"),
    )
    return processor, transformers.Lfm2VlForConditionalGeneration(config)


MISTRAL_SPECIAL = {
    "image_token": "[IMG]",
    "image_break_token": "[IMG_BREAK]",
    "image_end_token": "[IMG_END]",
    "inst": "[INST]",
    "end_inst": "[/INST]",
    "system": "[SYSTEM_PROMPT]",
    "end_system": "[/SYSTEM_PROMPT]",
}
MISTRAL3_CHAT = chat(
    "{% if turn.role == 'user' %}[INST]CONTENT[/INST]"
    "{% elif turn.role == 'system' %}[SYSTEM_PROMPT]CONTENT[/SYSTEM_PROMPT]"
    "{% else %}CONTENT{{ eos_token }}{% endif %}",
    "[IMG]",
    "",
    begin="{{ bos_token }}",
)


def _mistral3(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.PixtralProcessor(
        transformers.PixtralImageProcessor(size={"longest_edge": 64}, patch_size=PATCH),
        tokenizer,
        patch_size=PATCH,
        spatial_merge_size=2,
    )
    config = transformers.Mistral3Config(
        vision_config={
            **VISION,
            "model_type": "pixtral",
            "image_size": 64,
            "patch_size": PATCH,
            "head_dim": 4,
        },
        text_config=_language(tokenizer, model_type="mistral", head_dim=8),
        spatial_merge_size=2,
        **_ids(tokenizer, image_token_index="[IMG]"),
    )
    return processor, transformers.Mistral3ForConditionalGeneration(config)


# Meta

MLLAMA = {
    "bos_token": "<|begin_of_text|>",
    "eos_token": "<|eot_id|>",
    "pad_token": "<|finetune_right_pad_id|>",
}
MLLAMA_SPECIAL = {
    "image_token": "<|image|>",
    "python": "<|python_tag|>",
    "header_start": "<|start_header_id|>",
    "header_end": "<|end_header_id|>",
}
LLAMA3_CHAT = chat(
    "<|start_header_id|>{{ turn.role }}<|end_header_id|>\n\nCONTENT<|eot_id|>",
    "<|image|>",
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    begin="{{ bos_token }}",
)


def _mllama(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.MllamaProcessor(
        _square("MllamaImageProcessor", max_image_tiles=4), tokenizer
    )
    language = _language(
        tokenizer,
        num_hidden_layers=3,
        cross_attention_layers=[1],
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )
    # The picture's token has the one id beyond the vocabulary that answers are made of.
    language["vocab_size"] -= 1
    config = transformers.MllamaConfig(
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 24,
            "num_hidden_layers": 2,
            "num_global_layers": 1,
            "attention_heads": 2,
            "image_size": SIDE,
            "patch_size": PATCH,
            "intermediate_layers_indices": [0],
            "vision_output_dim": 32,
            "supported_aspect_ratios": [
                *([1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1])
            ],
        },
        text_config=language,
        **_ids(tokenizer, image_token_index="<|image|>"),
    )
    return processor, transformers.MllamaForConditionalGeneration(config)


LLAMA4_SPECIAL = {
    "image_token": "<|image|>",
    "image_start": "<|image_start|>",
    "image_end": "<|image_end|>",
    "patch": "<|patch|>",
    "tile_x": "<|tile_x_separator|>",
    "tile_y": "<|tile_y_separator|>",
    "header_start": "<|header_start|>",
    "header_end": "<|header_end|>",
}
LLAMA4 = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot|>", "pad_token": "<|pad|>"}
LLAMA4_CHAT = chat(
    "<|header_start|>{{ turn.role }}<|header_end|>\n\nCONTENT<|eot|>",
    "<|image|>",
    "<|header_start|>assistant<|header_end|>\n\n",
    begin="{{ bos_token }}",
)


def _llama4(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.Llama4Processor(
        _square("Llama4ImageProcessor", max_patches=4),
        tokenizer,
        patch_size=PATCH,
        pixel_shuffle_ratio=0.5,
    )
    config = transformers.Llama4Config(
        vision_config={
            **VISION,
            "image_size": SIDE,
            "patch_size": PATCH,
            "vision_output_dim": 32,
            "projector_input_dim": 32,
            "projector_output_dim": 32,
            "intermediate_size": 64,
        },
        text_config=_language(
            tokenizer,
            head_dim=8,
            intermediate_size_mlp=48,
            num_local_experts=2,
            interleave_moe_layer_step=2,
            attention_chunk_size=64,
        ),
        **_ids(
            tokenizer,
            boi_token_index="<|image_start|>",
            eoi_token_index="<|image_end|>",
            image_token_index="<|patch|>",
        ),
    )
    return processor, transformers.Llama4ForConditionalGeneration(config)


# Others

GLM = {"eos_token": "<|user|>", "pad_token": "<|endoftext|>"}
GLM_SPECIAL = {
    "image_token": "<|image|>",
    "video_token": "<|video|>",
    "image_start": "<|begin_of_image|>",
    "image_end": "<|end_of_image|>",
    "video_start": "<|begin_of_video|>",
    "video_end": "<|end_of_video|>",
    "assistant": "<|assistant|>",
    "system": "<|system|>",
    "prefix": "[gMASK]",
    "sop": "<sop>",
}
GLM_ROPE = ROPE | {"partial_rotary_factor": 0.5, "mrope_section": [1, 1, 0]}
GLM_CHAT = chat(
    "<|{{ turn.role }}|>\nCONTENT",
    "<|begin_of_image|><|image|><|end_of_image|>",
    "<|assistant|>\n",
    begin="[gMASK]<sop>",
    thought=Thought("enable_thinking", "", "<think></think>\n"),
)


def _glm46v(tokenizer: Any) -> tuple[Any, Any]:
    edges = {"size": AREA, **QWEN_PATCHES}
    processor = transformers.Glm46VProcessor(
        transformers.Glm46VImageProcessor(**edges),
        tokenizer,
        transformers.Glm46VVideoProcessor(**edges),
    )
    config = transformers.Glm46VConfig(
        vision_config={
            "model_type": "glm4v_vision",
            "depth": 2,
            "num_heads": 2,
            "hidden_size": 16,
            "intermediate_size": 24,
            "out_hidden_size": 32,
            "image_size": SIDE,
            "patch_size": PATCH,
        },
        text_config=_language(tokenizer, model_type="glm4v_text", rope_parameters=GLM_ROPE),
        **_ids(
            tokenizer,
            image_token_id="<|image|>",
            video_token_id="<|video|>",
            image_start_token_id="<|begin_of_image|>",
            image_end_token_id="<|end_of_image|>",
            video_start_token_id="<|begin_of_video|>",
            video_end_token_id="<|end_of_video|>",
        ),
    )
    return processor, transformers.Glm46VForConditionalGeneration(config)


KIMI = {"bos_token": "[BOS]", "eos_token": "<|im_end|>", "pad_token": "[PAD]"}
KIMI_SPECIAL = {
    "image_token": "<|media_pad|>",
    "video_token": "<|kimi_k25_video_placeholder|>",
    "media_begin": "<|media_begin|>",
    "media_content": "<|media_content|>",
    "media_end": "<|media_end|>",
    "user": "<|im_user|>",
    "assistant": "<|im_assistant|>",
    "system": "<|im_system|>",
    "middle": "<|im_middle|>",
}
KIMI_CHAT = chat(
    "<|im_{{ turn.role }}|>{{ turn.role }}<|im_middle|>CONTENT<|im_end|>",
    "<|media_begin|>image<|media_content|><|media_pad|><|media_end|>",
    "<|im_assistant|>assistant<|im_middle|>",
    thought=Thought("thinking", "<think>", "<think></think>"),
)


def _kimi(tokenizer: Any) -> tuple[Any, Any]:
    processor = transformers.Kimi_K25Processor(
        transformers.Kimi_K25ImageProcessor(patch_size=PATCH, max_patches=64),
        tokenizer,
        transformers.Kimi_K25VideoProcessor(patch_size=PATCH),
    )
    config = transformers.Kimi_K25Config(
        vision_config={
            **VISION,
            "num_attention_heads": 2,
            "patch_size": PATCH,
            "pos_emb_height": 8,
            "pos_emb_width": 8,
        },
        text_config=_language(
            tokenizer,
            model_type="deepseek_v3",
            num_key_value_heads=4,
            moe_intermediate_size=16,
            n_routed_experts=4,
            n_group=2,
            topk_group=1,
            num_experts_per_tok=2,
            first_k_dense_replace=1,
            kv_lora_rank=16,
            q_lora_rank=16,
            qk_rope_head_dim=4,
            qk_nope_head_dim=4,
            v_head_dim=8,
            num_mtp_layers=0,
        ),
        projection_hidden_size=16,
        **_ids(
            tokenizer,
            image_token_id="<|media_pad|>",
            video_token_id="<|kimi_k25_video_placeholder|>",
            vision_start_token_id="<|media_begin|>",
            vision_end_token_id="<|media_end|>",
        ),
    )
    return processor, transformers.Kimi_K25ForConditionalGeneration(config)


MINICPM_SPECIAL = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "image_start_token": "<image>",
    "image_end_token": "</image>",
    "slice_start_token": "<slice>",
    "slice_end_token": "</slice>",
    "image_id_start_token": "<image_id>",
    "image_id_end_token": "</image_id>",
    "turn_start": "<|im_start|>",
}


def _minicpm(tokenizer: Any) -> tuple[Any, Any]:
    slices = {"max_slice_nums": 2, "scale_resolution": 2 * SIDE, "patch_size": PATCH}
    processor = transformers.MiniCPMV4_6Processor(
        transformers.MiniCPMV4_6ImageProcessor(**slices),
        transformers.MiniCPMV4_6VideoProcessor(**slices),
        tokenizer,
    )
    config = transformers.MiniCPMV4_6Config(
        vision_config={**VISION, "image_size": 2 * SIDE, "patch_size": PATCH, "insert_layer_id": 0},
        text_config=_language(
            tokenizer, model_type="qwen3_5_text", rope_parameters=ROPE, **DELTA_NET
        ),
        insert_layer_id=0,
        image_size=2 * SIDE,
        **_ids(tokenizer, image_token_id="<|image_pad|>", video_token_id="<|video_pad|>"),
    )
    return processor, transformers.MiniCPMV4_6ForConditionalGeneration(config)


LLAVA_SPECIAL = {"image_token": "<image>", "video_token": "<video>"}
FAMILIES: Mapping[str, Family] = {
    "Qwen3-VL": _qwen_family("Qwen3VL", QWEN3_VISION | DEEPSTACK, head_dim=8),
    "Qwen3-VL MoE": _qwen_family("Qwen3VLMoe", QWEN3_VISION | DEEPSTACK, head_dim=8, **EXPERTS),
    "Qwen3.5": _qwen_family("Qwen3_5", QWEN3_VISION, **DELTA_NET),
    "Qwen3.5 MoE": _qwen_family(
        "Qwen3_5Moe", QWEN3_VISION, **DELTA_NET, **EXPERTS, shared_expert_intermediate_size=16
    ),
    "Qwen2.5-VL": _qwen_family(
        "Qwen2_5_VL",
        {
            "intermediate_size": 24,
            "out_hidden_size": 32,
            "window_size": 32,
            "fullatt_block_indexes": [1],
        },
    ),
    "Qwen2-VL": _qwen_family("Qwen2VL", {"embed_dim": 16, "mlp_ratio": 2, "hidden_size": 32}),
    "Gemma 4": Family("GemmaTokenizer", GEMMA4, GEMMA4_SPECIAL, GEMMA4_CHAT, _gemma4),
    "Gemma 3": Family("GemmaTokenizer", GEMMA, GEMMA_SPECIAL, GEMMA_CHAT, _gemma3),
    "InternVL3": Family(
        "Qwen2Tokenizer", QWEN, INTERNVL_SPECIAL, chatml("<IMG_CONTEXT>\n"), _internvl
    ),
    "LLaVA-1.5": Family("LlamaTokenizer", LLAMA, LLAVA_SPECIAL, LLAVA_CHAT, _llava),
    "LLaVA-NeXT": Family("LlamaTokenizer", LLAMA, LLAVA_SPECIAL, MISTRAL_CHAT, _llava_next),
    "LLaVA-OneVision": Family(
        "Qwen2Tokenizer",
        QWEN,
        LLAVA_SPECIAL | {"turn_start": "<|im_start|>"},
        chatml("<image>\n"),
        _llava_onevision,
    ),
    "SmolVLM": Family(
        "GPT2Tokenizer",
        {"bos_token": "<|im_start|>", "eos_token": "<end_of_utterance>", "pad_token": "<|im_end|>"},
        IDEFICS_SPECIAL,
        SMOLVLM_CHAT,
        _smolvlm,
    ),
    "PaliGemma": Family(
        "GemmaTokenizer",
        GEMMA | {"eos_token": "<eos>"},
        {"image_token": "<image>"},
        None,
        _paligemma,
    ),
    "LFM2-VL": Family("Qwen2Tokenizer", QWEN, LFM2_SPECIAL, chatml("<image>"), _lfm2_vl),
    "Mistral 3": Family("LlamaTokenizer", LLAMA, MISTRAL_SPECIAL, MISTRAL3_CHAT, _mistral3),
    "Llama 3.2 Vision": Family("GPT2Tokenizer", MLLAMA, MLLAMA_SPECIAL, LLAMA3_CHAT, _mllama),
    "Llama 4": Family("GPT2Tokenizer", LLAMA4, LLAMA4_SPECIAL, LLAMA4_CHAT, _llama4),
    "GLM-4.6V": Family("Qwen2Tokenizer", GLM, GLM_SPECIAL, GLM_CHAT, _glm46v),
    "Kimi K2.5": Family("Qwen2Tokenizer", KIMI, KIMI_SPECIAL, KIMI_CHAT, _kimi),
    "MiniCPM-V 4.6": Family(
        "Qwen2Tokenizer",
        QWEN,
        MINICPM_SPECIAL,
        chatml("<|image_pad|>"),
        _minicpm,
    ),
}
"""Families by the names that people know them by, most downloaded first."""
