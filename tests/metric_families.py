"""Families of metrics of transformers, as a table: a tiny network of each, and how it scores.

`docs/local-models.md` shows the table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import tiny
from tests.tiny import transformers

_SIZES = tiny.SIZES | {"num_attention_heads": 2}
_SQUARE = {"height": tiny.SIDE, "width": tiny.SIDE}
# Published tokenizers of SigLIP give no mask: it was trained without one.
_SIGLIP_PADDING = {"padding": "max_length", "max_length": 64, "return_attention_mask": False}
_WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *tiny.PLAIN_WORDS]


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricFamily:
    """A family: how a model is saved, and its row in the documents."""

    name: str
    formula: str
    network: str
    """Class of transformers."""
    save: Callable[[Path], Any]
    """Saves network and processor to a folder."""
    read_score: Callable[[Any, Any], Any]
    """The score of a network's own output, with the network."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    padding: Mapping[str, Any] = field(default_factory=lambda: {"padding": True})
    """How transformers' own processor is to pad texts."""
    prefix: str = ""
    """What precedes a text."""
    longest_text: int
    """Tokens of the longest text."""
    note: str = ""

    @property
    def row(self) -> str:
        """Row of the table in the documents."""
        score = f"works, `formula: {self.formula}`"
        tokens = f"{self.longest_text} tokens"
        cells = [self.name, f"`{self.network}`", score, "works", tokens, self.note]
        return f"| {' | '.join(cells)} |".replace("  ", " ")


@dataclass(frozen=True, kw_only=True, eq=False)
class UnfitFamily:
    """A family that needs something else, by its row in the documents."""

    name: str
    network: str
    needs: str

    @property
    def row(self) -> str:
        """Row of the table in the documents."""
        return f"| {self.name} | {self.network} | {self.needs} | | | |"


def save_siglip(folder):
    tokenizer = _train(transformers.GemmaTokenizer())
    text = _SIZES | {"vocab_size": len(tokenizer), "projection_size": 32}
    config = transformers.SiglipConfig(
        text_config=text | {"max_position_embeddings": 64},
        vision_config=_SIZES | {"image_size": tiny.SIDE, "patch_size": 8},
    )
    transformers.SiglipModel(config).save_pretrained(folder)
    pictures = transformers.SiglipImageProcessorPil(size=_SQUARE)
    transformers.SiglipProcessor(pictures, tokenizer).save_pretrained(folder)


def save_siglip2(folder):
    tokenizer = _train(transformers.Siglip2Tokenizer())
    text = _SIZES | {"vocab_size": len(tokenizer), "projection_size": 32}
    config = transformers.Siglip2Config(
        text_config=text | {"max_position_embeddings": 64},
        vision_config=_SIZES | {"num_patches": 256, "patch_size": 16},
    )
    transformers.Siglip2Model(config).save_pretrained(folder)
    pictures = transformers.Siglip2ImageProcessorPil()
    transformers.Siglip2Processor(pictures, tokenizer).save_pretrained(folder)


def save_blip(folder, *, network="BlipForImageTextRetrieval"):
    tokenizer = transformers.BertTokenizer(vocab={word: at for at, word in enumerate(_WORDS)})
    ends = {"bos_token_id": 2, "sep_token_id": 3, "pad_token_id": 0}
    config = transformers.BlipConfig(
        # As on the Hub: the network knows two tokens more than its tokenizer.
        text_config=_SIZES | ends | {"vocab_size": len(_WORDS) + 2, "encoder_hidden_size": 32},
        vision_config=_SIZES | {"image_size": tiny.SIDE, "patch_size": 8},
        image_text_hidden_size=16,
    )
    getattr(transformers, network)(config).save_pretrained(folder)
    pictures = transformers.BlipImageProcessorPil(size=_SQUARE)
    transformers.BlipProcessor(pictures, tokenizer).save_pretrained(folder)


def _train(tokenizer):
    return tokenizer.train_new_from_iterator([[tiny.WORDS.lower()]], 400)


def _read_cosine(output, network):
    return output.logits_per_image[0, 0] / network.logit_scale.exp()


FAMILIES = (
    MetricFamily(
        name="CLIP",
        formula="clip_score",
        network="CLIPModel",
        save=tiny.save_clip,
        read_score=_read_cosine,
        prefix="A photo depicts ",
        longest_text=77,
    ),
    MetricFamily(
        name="PickScore",
        formula="pick_score",
        network="CLIPModel",
        save=lambda folder: tiny.save_clip(folder, activation="gelu"),
        read_score=lambda output, _: output.logits_per_image[0, 0],
        longest_text=77,
        note="`processor: laion/CLIP-ViT-H-14-laion2B-s32B-b79K`",
    ),
    MetricFamily(
        name="HPS v2",
        formula="clip_score",
        network="CLIPModel",
        save=lambda folder: tiny.save_clip(folder, activation="gelu"),
        read_score=_read_cosine,
        parameters={"prefix": ""},
        longest_text=77,
        note='`prefix: ""`; its open_clip file has to be converted to such a folder first',
    ),
    MetricFamily(
        name="SigLIP 2",
        formula="siglip_score",
        network="SiglipModel",
        save=save_siglip,
        read_score=lambda output, _: output.logits_per_image[0, 0].sigmoid(),
        padding=_SIGLIP_PADDING,
        longest_text=64,
    ),
    MetricFamily(
        name="SigLIP 2 NaFlex",
        formula="siglip_score",
        network="Siglip2Model",
        save=save_siglip2,
        read_score=lambda output, _: output.logits_per_image[0, 0].sigmoid(),
        padding=_SIGLIP_PADDING,
        longest_text=64,
    ),
    MetricFamily(
        name="BLIP ITM",
        formula="itm_score",
        network="BlipForImageTextRetrieval",
        save=save_blip,
        read_score=lambda output, _: output.itm_score.softmax(-1)[0, 1],
        longest_text=512,
    ),
)
UNFIT_FAMILIES = (
    UnfitFamily(
        name="SigLIP",
        network="`SiglipModel`",
        needs="needs `pip install sentencepiece`, for its tokenizer; then as SigLIP 2, untried",
    ),
    UnfitFamily(
        name="ImageReward, HPS v3",
        network="none in transformers",
        needs="needs [a function of yours](protobias.md#your-own-metric) that calls their package",
    ),
)
