"""Pairs a second that `sketch` paints and its reader reads: in memory, and through the client."""

import logging
import tempfile
from collections.abc import Iterator, Sequence
from itertools import cycle, islice, product
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from generators import sketch, sketch_reader
from generators.prompts.grammar import triplet
from resources.calls import CallStore
from resources.images import ImageStore
from resources.models.catalog import load
from resources.models.client import ModelClient
from resources.models.outcomes import Answered
from resources.models.requests import Paint
from resources.workers import spread

_MODELS = Path(__file__).parents[1] / "models.yaml"
_ENTITIES = ("penguin", "poor Christian person wearing a cross pendant", "bean bag")
_KNOBS = (
    ("count", ["two", "four"]),
    ("color", ["white", "red"]),
    ("layout_relation", ["left", "right"]),
    ("spatial", ["foreground", "background"]),
)
_FIELDS = {"hypernym": "animal", "prototype": "robin", "attribute": "", "extra_element": "rock"}


class Pairs(NamedTuple):
    """Wall seconds for so many pairs of pictures of 512 px."""

    number: int
    drawn: float
    """On all cores, in memory."""
    read: float
    """Both pictures by their pair's text, on all cores."""
    asked: float
    """Painted by one process through the model client, every answer and picture stored."""


def pairs(number: int) -> Pairs:
    """Paint so many pairs in each way, and read them; the workers are running before."""
    triplets = list(islice(_triplets(), number))
    prompts = [
        (each[side], seed)
        for seed, each in enumerate(triplets)
        for side in ("correct", "adversarial")
    ]
    texts = [each["text"] for each in triplets for _ in range(2)]
    list(spread(_painted, prompts[:8]))
    started = perf_counter()
    pngs = list(spread(_painted, prompts))
    drawn = perf_counter()
    list(spread(_read, list(zip(pngs, texts, strict=True))))
    read = perf_counter()
    return Pairs(number, drawn - started, read - drawn, _asked(prompts))


def _triplets() -> Iterator[dict[str, str]]:
    for place, (entity, (knob, values)) in enumerate(cycle(product(_ENTITIES, _KNOBS))):
        told = {"non_prototype": entity, "knob": knob, "values": values}
        yield triplet({**_FIELDS, **told, "environment_hint": f"at place {place}"})


def _painted(prompt_and_seed: tuple[str, int]) -> bytes:
    prompt, seed = prompt_and_seed
    return sketch.paint(prompt, f"{seed}/0")


def _read(picture_and_text: tuple[bytes, str]) -> float:
    return sketch_reader.fit(*picture_and_text)


def _asked(prompts: Sequence[tuple[str, int]]) -> float:
    [model] = (model for model in load(_MODELS).models if model.name == "sketch")
    with tempfile.TemporaryDirectory() as root:
        calls = CallStore(url=f"sqlite:///{root}/calls.sqlite")
        client = ModelClient(calls=calls, images=ImageStore(root=root))
        requests = [Paint(prompt, seed) for prompt, seed in prompts]
        started = perf_counter()
        asked = client.ask(model, requests, logging.getLogger("bench"))
        seconds = perf_counter() - started
        assert all(isinstance(outcome, Answered) for outcome in asked.outcomes)
        client.close()
        calls.close()
    return seconds
