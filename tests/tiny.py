"""Tiny models with random weights in the shapes of real ones, saved as their makers save theirs.

Nothing is fetched: the tokenizers learn a few words here. Importing this keeps the Hugging Face
libraries off the network and out of the user's cache, so it is to be imported before them, and they
from here: it takes seconds, which processes that only collect these tests are spared.
"""

import atexit
import os
import shutil
import sys
import tempfile
from importlib import import_module
from itertools import pairwise
from pathlib import Path

HOME = tempfile.mkdtemp(prefix="tiny-hub-")
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
os.environ.update(HF_HOME=HOME, HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TQDM_DISABLE="1")


class _Lazy:
    """A module that is imported once something of it is asked for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith("_"):
            # Who collects tests looks for marks on whatever stands in a file of them.
            raise AttributeError(attribute)
        if "torch" not in sys.modules:
            # The models are too small to be shared out among threads.
            import_module("torch").set_num_threads(1)
        return getattr(import_module(self._name), attribute)


diffusers, torch, transformers = _Lazy("diffusers"), _Lazy("torch"), _Lazy("transformers")
safetensors, pre_tokenizers = _Lazy("safetensors.torch"), _Lazy("tokenizers.pre_tokenizers")
tokenizers, processors = _Lazy("tokenizers"), _Lazy("tokenizers.processors")

WORDS = (
    "a photo of an animal with five legs, a bird, a horse, a flag, a board; how many legs does it "
    "have? Answer with a number in curly brackets, e.g., {9}. USER ASSISTANT Please check again."
)
SIDE = 16
"""Width and height, in px, of what the painters make and of what the judges see."""
CHAT = (
    "{{ bos_token }}{% for message in messages %}{{ message.role | upper }}: "
    "{% for part in message.content if part.type == 'image' %}{{ '<image>\n' }}{% endfor %}"
    "{% for part in message.content if part.type == 'text' %}{{ part.text }} {% endfor %}"
    "{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
_IMAGE_TOKENS = {
    "patch_size": 8,
    "vision_feature_select_strategy": "default",
    "num_additional_image_tokens": 1,
    "chat_template": CHAT,
}
_SQUARE = {"size": {"shortest_edge": SIDE}, "crop_size": {"height": SIDE, "width": SIDE}}
PLAIN_WORDS = ["is", "there", "a", "dog", "cat", "how", "many", "?"]
_LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32}
SIZES = {**_LAYERS, "intermediate_size": 37, "initializer_range": 0.5}


def cache(folder, name, commit):
    """Make a saved model one that was downloaded from the Hub, by that name and commit."""
    cached = Path(HOME, "hub", f"models--{name.replace('/', '--')}")
    shutil.rmtree(cached, ignore_errors=True)
    shutil.copytree(folder, cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)


def save_flux(folder, *, kontext=False):
    """A painter in the shape of FLUX.1: transformer, autoencoder, CLIP and T5 as text encoders."""
    torch.manual_seed(0)
    clip, t5 = clip_tokenizer(), t5_tokenizer()
    make = diffusers.FluxKontextPipeline if kontext else diffusers.FluxPipeline
    make(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        tokenizer=clip,
        text_encoder=clip_text(clip),
        tokenizer_2=t5,
        text_encoder_2=transformers.T5EncoderModel(
            transformers.T5Config(
                vocab_size=len(t5), d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4
            )
        ),
        transformer=diffusers.FluxTransformer2DModel(
            in_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=32,
            axes_dims_rope=(4, 4, 8),
        ),
        vae=diffusers.AutoencoderKL(
            block_out_channels=(4,),
            latent_channels=1,
            norm_num_groups=1,
            use_quant_conv=False,
            use_post_quant_conv=False,
            shift_factor=0.06,
            scaling_factor=1.5,
        ),
    ).save_pretrained(folder)
    return folder


def save_stable_diffusion(folder, *, prudish=False):
    """Save what `build_stable_diffusion` builds."""
    torch.manual_seed(0)
    build_stable_diffusion(prudish=prudish).save_pretrained(folder)
    return folder


def build_stable_diffusion(*, prudish=False):
    """A painter in the shape of Stable Diffusion; `prudish` if its checker finds all unsafe."""
    clip = clip_tokenizer()
    checker = diffusers.pipelines.stable_diffusion.StableDiffusionSafetyChecker(
        transformers.CLIPConfig(
            vision_config={**SIZES, "image_size": SIDE, "patch_size": 8}, projection_dim=32
        )
    )
    checker.concept_embeds_weights.fill_(-2.0 if prudish else 2.0)
    checker.special_care_embeds_weights.fill_(2.0)
    return diffusers.StableDiffusionPipeline(
        scheduler=diffusers.DDIMScheduler(steps_offset=1, clip_sample=False),
        tokenizer=clip,
        text_encoder=clip_text(clip),
        unet=diffusers.UNet2DConditionModel(
            sample_size=SIDE // 2,
            block_out_channels=(4, 8),
            layers_per_block=1,
            norm_num_groups=2,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=32,
            attention_head_dim=4,
        ),
        vae=diffusers.AutoencoderKL(
            block_out_channels=(4, 4),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            norm_num_groups=1,
        ),
        safety_checker=checker,
        feature_extractor=image_processor(),
    )


def save_clip(folder, *, processor=True, activation="quick_gelu"):
    """A metric in the shape of CLIP; without a `processor`, as PickScore_v1 comes."""
    torch.manual_seed(0)
    tokenizer = clip_tokenizer()
    ends = {name: getattr(tokenizer, name) for name in ("bos_token_id", "eos_token_id")}
    sizes = SIZES | {"num_attention_heads": 2, "projection_dim": 24, "hidden_act": activation}
    model = transformers.CLIPModel(
        transformers.CLIPConfig(
            text_config={**sizes, **ends, "vocab_size": len(tokenizer)},
            vision_config={**sizes, "image_size": SIDE, "patch_size": 8},
            projection_dim=24,
            logit_scale_init_value=4.6,
        )
    )
    model.save_pretrained(folder)
    if processor:
        transformers.CLIPProcessor(image_processor(), tokenizer).save_pretrained(folder)
    return folder


def save_llava(folder, *, words=WORDS, always=None, **generation):
    """A judge in the shape of LLaVA-1.5; `generation` goes into its generation_config.

    Its tokenizer learns `words`. It says what it is `always` to say, whatever it is asked, where
    that is given; no token may occur in it twice.
    """
    torch.manual_seed(0)
    tokenizer = llama_tokenizer(words)
    model = transformers.LlavaForConditionalGeneration(
        transformers.LlavaConfig(**_llava_configuration(tokenizer))
    )
    model.generation_config.update(**generation)
    if always is not None:
        asked = tokenizer("ASSISTANT:", add_special_tokens=False).input_ids
        told = tokenizer(f"ASSISTANT: {always}", add_special_tokens=False).input_ids
        _teach(model, [*told[len(asked) - 1 :], tokenizer.eos_token_id])
    model.save_pretrained(folder)
    transformers.LlavaProcessor(image_processor(), tokenizer, **_IMAGE_TOKENS).save_pretrained(
        folder
    )
    return folder


def save_llama(folder):
    """A language model without vision, in the shape of Llama, whose chat template takes strings."""
    torch.manual_seed(0)
    tokenizer = llama_tokenizer(WORDS)
    tokenizer.chat_template = (
        "{{ bos_token }}{% for message in messages %}{{ message.role | upper }}: "
        "{{ message.content + ' ' }}{% endfor %}"
        "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
    )
    transformers.LlamaForCausalLM(_llama(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_scorer(folder, prompt, pictures, *, seed=0):
    """A LLaVA-1.5 that answers `prompt` with a digit, and does not tell pictures apart by it.

    `pictures` are two lists: what sets the first apart from the second on average is taken out of
    the digits' weights, so that each of the second scores above one of the first by luck alone.
    """
    tokenizer = llama_tokenizer(f"{prompt} USER: ASSISTANT:{20 * ' Yes No'}", size=560)
    torch.manual_seed(seed)
    model = transformers.LlavaForConditionalGeneration(
        transformers.LlavaConfig(**_llava_configuration(tokenizer))
    )
    processor = transformers.LlavaProcessor(image_processor(), tokenizer, **_IMAGE_TOKENS)
    _say_digits(model, processor, prompt, pictures)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _say_digits(model, processor, prompt, pictures):
    """Make a model say a digit, each about as likely and the same of both lists, and then end."""
    digits = processor.tokenizer.convert_tokens_to_ids([*"0123456789"])
    seen = [_last_states(model, processor, prompt, some) for some in pictures]
    some = [*pictures[0][:5], *pictures[1][:5]]
    said = [_last_states(model, processor, prompt, some, str(digit)) for digit in range(10)]
    means = torch.stack([each.mean(0) for each in (torch.cat(seen), *said)])
    begins, *ends = torch.linalg.pinv(means).T
    head, after = model.get_output_embeddings().weight, sum(ends)
    apart = seen[0].mean(0) - seen[1].mean(0)
    basis = torch.linalg.qr(torch.stack([*means, apart], dim=1)).Q
    with torch.no_grad():
        weights = head[digits].clone()
        head[:] = -8 * (begins + after)
        head[digits] = (weights - weights @ basis @ basis.T) / 2 - 8 * after
        head[processor.tokenizer.eos_token_id] = 8 * after - 8 * begins


def _last_states(model, processor, prompt, pictures, said=""):
    """What a model makes of each picture where its answer begins, or goes on after what is said."""
    text = {"type": "text", "text": prompt}
    asked = [
        [{"role": "user", "content": [{"type": "image", "image": each}, text]}] for each in pictures
    ]
    begun = [
        processor.apply_chat_template(each, add_generation_prompt=True) + said for each in asked
    ]
    inputs = processor(images=list(pictures), text=begun, return_tensors="pt")
    with torch.no_grad():
        return model(**inputs, output_hidden_states=True).hidden_states[-1][:, -1]


def save_llava_next(folder):
    """A judge in the shape of LLaVA-NeXT, with grids of one or two tiles a side."""
    torch.manual_seed(0)
    tokenizer = llama_tokenizer(WORDS)
    grids = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
    transformers.LlavaNextForConditionalGeneration(
        transformers.LlavaNextConfig(**_llava_configuration(tokenizer), image_grid_pinpoints=grids)
    ).save_pretrained(folder)
    pictures = transformers.LlavaNextImageProcessorPil(**_SQUARE, image_grid_pinpoints=grids)
    transformers.LlavaNextProcessor(pictures, tokenizer, **_IMAGE_TOKENS).save_pretrained(folder)
    return folder


def save_instructblip(folder):
    """A judge in the shape of InstructBLIP, whose Q-Former reads the question."""
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *PLAIN_WORDS]
    questions = transformers.BertTokenizer(vocab={word: at for at, word in enumerate(words)})
    tokenizer = llama_tokenizer(WORDS)
    transformers.InstructBlipForConditionalGeneration(
        transformers.InstructBlipConfig(
            vision_config={**SIZES, "image_size": SIDE, "patch_size": 8},
            qformer_config={
                **SIZES,
                "vocab_size": len(words),
                "cross_attention_frequency": 1,
                "max_position_embeddings": 32,
            },
            text_config=_llama(tokenizer),
            num_query_tokens=4,
            image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        )
    ).save_pretrained(folder)
    pictures = transformers.BlipImageProcessorPil(size={"height": SIDE, "width": SIDE})
    transformers.InstructBlipProcessor(
        pictures, tokenizer, questions, num_query_tokens=4
    ).save_pretrained(folder)
    return folder


def _llava_configuration(tokenizer):
    return {
        "vision_config": transformers.CLIPVisionConfig(
            **SIZES, image_size=SIDE, patch_size=8, projection_dim=32
        ),
        "text_config": _llama(tokenizer),
        "image_token_index": tokenizer.convert_tokens_to_ids("<image>"),
        "vision_feature_layer": -2,
        "vision_feature_select_strategy": "default",
    }


def llama_tokenizer(words, size=400):
    return transformers.LlamaTokenizer(pad_token="<pad>").train_new_from_iterator(
        [[words]],
        size,
        new_special_tokens=["<pad>", "<image>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )


def _llama(tokenizer):
    return transformers.LlamaConfig(
        **SIZES,
        vocab_size=len(tokenizer),
        max_position_embeddings=512,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def _teach(model, tokens):
    """Make a model say tokens, each after the one before it, whatever else it has seen."""
    words, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    with torch.no_grad():
        for layer in model.model.language_model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        head.zero_()
        for token, following in pairwise(tokens):
            head[following] = words[token]


def clip_tokenizer():
    return transformers.CLIPTokenizer(model_max_length=77).train_new_from_iterator(
        [[WORDS]], 400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )


def t5_tokenizer():
    return transformers.T5Tokenizer(extra_ids=0).train_new_from_iterator([[WORDS]], 90)


def clip_text(tokenizer, kind="CLIPTextModel"):
    config = transformers.CLIPTextConfig(
        **SIZES,
        vocab_size=len(tokenizer),
        projection_dim=32,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return getattr(transformers, kind)(config)


def image_processor():
    return transformers.CLIPImageProcessorPil(**_SQUARE)


def save_grounding_dino(folder):
    """A detector in the shape of Grounding DINO, which has four boxes to say of any picture."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "cat", "."]
    torch.manual_seed(0)
    transformers.GroundingDinoForObjectDetection(
        transformers.GroundingDinoConfig(
            d_model=32,
            encoder_layers=1,
            encoder_attention_heads=4,
            encoder_ffn_dim=32,
            decoder_layers=2,
            decoder_attention_heads=4,
            decoder_ffn_dim=32,
            num_queries=4,
            max_text_len=16,
            num_feature_levels=3,
            backbone_config=transformers.SwinConfig(
                image_size=64,
                depths=[1, 1, 1, 1],
                num_heads=[1, 1, 1, 1],
                embed_dim=8,
                window_size=4,
                out_features=["stage2", "stage3", "stage4"],
            ),
            text_config=transformers.BertConfig(
                **_LAYERS, intermediate_size=37, vocab_size=len(words)
            ),
        )
    ).save_pretrained(folder)
    transformers.GroundingDinoProcessor(
        transformers.GroundingDinoImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 64}),
        transformers.BertTokenizer(vocab={word: at for at, word in enumerate(words)}),
    ).save_pretrained(folder)
    return folder
