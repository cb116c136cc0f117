"""The forward pass of a CLIP, alone and within a metric, in a process that has torch.

The weights are random, and the pictures are as large and as hard to decode as photographs of
1,024 px.
"""

import io
import json
import logging
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from PIL import Image

from bench.scoring import Cost
from resources.calls import CallStore
from resources.images import ImageStore
from resources.models.backends.local import library
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.outcomes import Answered
from resources.models.requests import Score

# Before the Hugging Face libraries, which it keeps off the network.
tiny = import_module("tests.tiny")
torch, transformers = library("torch"), library("transformers")

BATCH, PICTURES, ROUNDS, SIDE = 4, 16, 3, 1024
VIT_L_14: Mapping[str, Any] = {
    "projection_dim": 768,
    "text_config": {
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
    },
    "vision_config": {
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "image_size": 224,
        "patch_size": 14,
    },
}
"""The shape of openai/clip-vit-large-patch14."""
_TEXT = "a photo of bird {number}, with five flags on the left of it and a small board behind"
_LOG = logging.getLogger("bench")


def rounds(shape: Mapping[str, Any]) -> list[Cost]:
    """The cost by a CLIP of that shape, here."""
    with tempfile.TemporaryDirectory() as root:
        model = _saved(Path(root, "clip"), shape)
        images = ImageStore(root=f"{root}/images")
        digests = [images.put(_picture(number)) for number in range(PICTURES)]
        bare = _Bare(model, [images.get(digest) for digest in digests])
        calls = CallStore(url=f"sqlite:///{root}/calls.sqlite")
        client = ModelClient(calls=calls, images=images)
        # Loads it.
        _score(client, model, digests[:1], -1)
        costs = [
            Cost(bare.seconds(), _score(client, model, digests, number), bare.preparing)
            for number in range(ROUNDS)
        ]
        client.close()
        calls.close()
    return [Cost(*(1000 * seconds / PICTURES for seconds in cost)) for cost in costs]


class _Bare:
    """The forward pass by itself, of the same pictures and texts."""

    def __init__(self, model: Model, pictures: Sequence[bytes]) -> None:
        self._clip = transformers.CLIPModel.from_pretrained(model.model)
        processor = transformers.AutoProcessor.from_pretrained(model.model, backend="pil")
        started = perf_counter()
        shown = [
            processor.image_processor(Image.open(io.BytesIO(data)), return_tensors="pt")
            for data in pictures
        ]
        self.preparing = perf_counter() - started
        texts = ["A photo depicts " + text for text in _texts(0)]
        self._batches = [
            processor.tokenizer(words, padding=True, return_tensors="pt")
            | {"pixel_values": torch.cat([one["pixel_values"] for one in some])}
            for words, some in (
                (texts[start : start + BATCH], shown[start : start + BATCH])
                for start in range(0, PICTURES, BATCH)
            )
        ]
        self.seconds()

    def seconds(self) -> float:
        """How long all pictures take."""
        started = perf_counter()
        with torch.inference_mode():
            for inputs in self._batches:
                self._clip(**inputs)
        return perf_counter() - started


def _saved(folder: Path, shape: Mapping[str, Any]) -> Model:
    """The entry of a CLIP of that shape with random weights."""
    tokenizer = transformers.CLIPTokenizer.from_pretrained(tiny.save_clip(folder / "words"))
    ends = {name: getattr(tokenizer, name) for name in ("bos_token_id", "eos_token_id")}
    text = {"vocab_size": len(tokenizer), **ends}
    config = {**shape, "text_config": {**shape["text_config"], **text}}
    clip = transformers.CLIPModel(transformers.CLIPConfig(**config))
    clip.save_pretrained(folder)
    side = clip.config.vision_config.image_size
    sides = {"size": {"shortest_edge": side}, "crop_size": {"height": side, "width": side}}
    pictures = transformers.CLIPImageProcessorPil(**sides)
    transformers.CLIPProcessor(pictures, tokenizer).save_pretrained(folder)
    return Model(
        name="clip",
        backend="transformers",
        model=str(folder),
        family="clip",
        roles=("metric",),
        parameters={"formula": "clip_score", "batch": BATCH},
        concurrency=2 * BATCH,
    )


def _picture(number: int) -> bytes:
    """A PNG of smooth colours with grain."""
    chance = np.random.default_rng(number)
    coarse = chance.integers(0, 256, (32, 32, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((SIDE, SIDE), Image.Resampling.BICUBIC))
    grain = chance.integers(-3, 4, smooth.shape)
    image = Image.fromarray((smooth + grain).clip(0, 255).astype(np.uint8))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _texts(first: int) -> list[str]:
    return [_TEXT.format(number=first + place) for place in range(PICTURES)]


def _score(client: ModelClient, model: Model, digests: Sequence[str], number: int) -> float:
    """Seconds to score pictures against texts that no other round has."""
    requests = [
        Score(text, digest) for text, digest in zip(_texts(100 * number), digests, strict=False)
    ]
    started = perf_counter()
    asked = client.ask(model, requests, _LOG)
    seconds = perf_counter() - started
    assert all(isinstance(outcome, Answered) for outcome in asked.outcomes)
    return seconds


if __name__ == "__main__":
    torch.set_num_threads(os.cpu_count() or 1)
    sys.stdout.write(json.dumps(rounds(VIT_L_14)))
