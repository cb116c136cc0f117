"""A metric above the bare forward pass of its model: CLIPScore by a ViT-L/14 of random weights.

Bare is the forward pass alone, on tensors that are ready, in batches as large and with as many
threads. Above it is all else: to open and scale pictures, tokens, batching, the call store. The
pictures are as large and as hard to decode as photographs of 1,024 px.
"""

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

from PIL import Image

from bench.client import ask_timed, client_in, model_named, picture
from bench.figure import Figure, answer, in_a_process
from resources.models.backends.local_models import import_library
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.requests import ScoreRequest

BATCH, PICTURES, ROUNDS, SIDE = 4, 16, 3, 1024
VIT_L_14: Mapping[str, Any] = {
    "projection_dim": 768,
    "text_config": {"hidden_size": 768, "intermediate_size": 3072}
    | {"num_hidden_layers": 12, "num_attention_heads": 12},
    "vision_config": {"hidden_size": 1024, "intermediate_size": 4096}
    | {"num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 224, "patch_size": 14},
}
"""The shape of openai/clip-vit-large-patch14."""
_TEXT = "a photo of bird {number}, with five flags on the left of it and a small board behind"


class Cost(NamedTuple):
    """Milliseconds for a picture: bare, by the metric, and to open and scale it one by one."""

    bare: float
    scored: float
    prepared: float

    @property
    def above(self) -> float:
        """What the metric costs above the bare forward pass, in percent of that."""
        return 100 * (self.scored / self.bare - 1)


def figures() -> Iterator[Figure]:
    """The round in the middle of several, in a process of its own: others are spared torch."""
    cost = middle([Cost(*each) for each in in_a_process("bench.scoring")])
    yield Figure("the forward pass alone, a picture", cost.bare, "ms")
    yield Figure("as a metric", cost.scored, "ms")
    yield Figure("to open and scale it", cost.prepared, "ms")
    yield Figure("a metric above its forward pass", cost.above, "%", 10)


def middle(costs: Sequence[Cost]) -> Cost:
    """The round in the middle by what the metric costs above the bare forward pass."""
    return sorted(costs, key=lambda cost: cost.above)[len(costs) // 2]


def rounds(shape: Mapping[str, Any]) -> list[Cost]:
    """The cost by a CLIP of that shape, here."""
    import_library("torch").set_num_threads(os.cpu_count() or 1)
    with TemporaryDirectory() as root, client_in(root) as client:
        model, images = _saved(Path(root, "clip"), shape), client.images
        digests = [images.put(picture(SIDE, number)) for number in range(PICTURES)]
        bare = _Bare(model, [images.get(digest) for digest in digests])
        # Loads it.
        _score(client, model, digests[:1], -1)
        costs = [
            Cost(bare.seconds(), _score(client, model, digests, number), bare.preparing)
            for number in range(ROUNDS)
        ]
    return [Cost(*(1000 * seconds / PICTURES for seconds in cost)) for cost in costs]


class _Bare:
    """The forward pass by itself, of the same pictures and texts."""

    def __init__(self, model: Model, pictures: Sequence[bytes]) -> None:
        transformers = import_library("transformers")
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
            | {"pixel_values": import_library("torch").cat([one["pixel_values"] for one in some])}
            for words, some in (
                (texts[start : start + BATCH], shown[start : start + BATCH])
                for start in range(0, PICTURES, BATCH)
            )
        ]
        self.seconds()

    def seconds(self) -> float:
        """How long all pictures take."""
        started = perf_counter()
        with import_library("torch").inference_mode():
            for inputs in self._batches:
                self._clip(**inputs)
        return perf_counter() - started


def _saved(folder: Path, shape: Mapping[str, Any]) -> Model:
    """The entry of a CLIP of that shape with random weights."""
    # Before the Hugging Face libraries, which it keeps off the network.
    tiny, transformers = import_module("tests.tiny"), import_library("transformers")
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
    terms = {"model": str(folder), "parameters": {"formula": "clip_score", "batch": BATCH}}
    return model_named("clip", "transformers", "metric", concurrency=2 * BATCH, **terms)


def _texts(first: int) -> list[str]:
    return [_TEXT.format(number=first + place) for place in range(PICTURES)]


def _score(client: ModelClient, model: Model, digests: Sequence[str], number: int) -> float:
    """Seconds to score pictures against texts that no other round has."""
    texts = _texts(100 * number)
    requests = [ScoreRequest(text, digest) for text, digest in zip(texts, digests, strict=False)]
    return ask_timed(client, model, requests)


if __name__ == "__main__":
    answer(partial(rounds, VIT_L_14))
