"""Pairs per second that `sketch` paints and its reader reads: in memory, and through the client."""

from collections.abc import Iterator
from itertools import cycle, islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.client import ask_timed, client_in
from bench.figure import Figure
from generators import sketch, sketch_reader
from generators.prompts.triplet_grammar import build_triplet
from resources.execution.workers import map_in_workers
from resources.models.catalog import load_catalog
from resources.models.requests import PaintRequest

_MODELS = Path(__file__).parents[1] / "models.yaml"
_ENTITIES = ("penguin", "poor Christian person wearing a cross pendant", "bean bag")
_KNOBS = (
    ("count", ["two", "four"]),
    ("color", ["white", "red"]),
    ("layout_relation", ["left", "right"]),
    ("spatial", ["foreground", "background"]),
)
_FIELDS = {"hypernym": "animal", "prototype": "robin", "attribute": "", "extra_element": "rock"}


def figures(number: int = 1_000) -> Iterator[Figure]:
    """Pairs of 512 px: painted and read on all running cores, and painted through the client."""
    triplets = list(islice(_triplets(), number))
    prompts = [
        (each[side], seed)
        for seed, each in enumerate(triplets)
        for side in ("correct", "adversarial")
    ]
    texts = [each["text"] for each in triplets for _ in range(2)]
    list(map_in_workers(_painted, enumerate(prompts[:8])))
    started = perf_counter()
    pngs = dict(map_in_workers(_painted, enumerate(prompts)))
    drawn = perf_counter()
    list(map_in_workers(_read, enumerate(zip(pngs.values(), texts, strict=True))))
    read = perf_counter()
    yield Figure(f"painting {number:,} pairs with sketch", drawn - started, "s", 10)
    yield Figure("reading them back by their pair's text", read - drawn, "s")
    [model] = (model for model in load_catalog(_MODELS).models if model.name == "sketch")
    with TemporaryDirectory() as root, client_in(root) as client:
        asked = ask_timed(client, model, [PaintRequest(prompt, seed) for prompt, seed in prompts])
    yield Figure("painting them in one process through client and stores", asked, "s")


def _triplets() -> Iterator[dict[str, str]]:
    for place, (entity, (knob, values)) in enumerate(cycle(product(_ENTITIES, _KNOBS))):
        told = {"non_prototype": entity, "knob": knob, "values": values}
        yield build_triplet({**_FIELDS, **told, "environment_hint": f"at place {place}"})


def _painted(prompt_and_seed: tuple[str, int]) -> bytes:
    prompt, seed = prompt_and_seed
    return sketch.paint_sketch(prompt, f"{seed}/0")


def _read(picture_and_text: tuple[bytes, str]) -> float:
    return sketch_reader.score_fit(*picture_and_text)
