"""The stand-in backend: `grammar` writes prompt triplets, `sketch` draws schematics."""

import asyncio
import json
from collections.abc import Sequence

from generators import sketch
from generators.glyphs import MissingGlyph
from generators.prompts import triplet_grammar as grammar
from resources.execution.workers import run_in_worker
from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.models.replies import ImageFile, ModelReply, Refusal
from resources.models.requests import EditRequest, PaintRequest, WriteRequest

_GRAMMAR, _SKETCH = f"grammar-{grammar.VERSION}", f"sketch-{sketch.VERSION}"


class StandInBackend:
    """The models of the backend `stand_in` that take requests.

    What they cannot understand they refuse, as a model does. The stand-in judges are no part of
    this: what they are told beside the picture is not in a request.
    """

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        self._picture = picture

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    async def write(self, request: WriteRequest) -> ModelReply:
        """The triplet that the last turn asks for as a JSON object (see `grammar.triplet`)."""
        try:
            fields = json.loads(request.turns[-1].text)
            if not isinstance(fields, dict):
                raise grammar.BadTripletFields(
                    "this is no JSON object with the fields of a triplet"
                )
            text = json.dumps(grammar.build_triplet(fields))
        except json.JSONDecodeError as error:
            return _refuse(f"grammar takes the fields of a triplet as JSON: {error}", _GRAMMAR)
        except grammar.BadTripletFields as why:
            return _refuse(f"grammar cannot write this triplet: {why}", _GRAMMAR)
        return ModelReply(text=text, served_model=_GRAMMAR)

    async def paint(self, request: PaintRequest) -> ModelReply:
        """The schematic of the prompt; another seed or sample moves it a little."""
        return await _draw(request.prompt, f"{request.seed}/{request.sample}")

    async def edit(self, request: EditRequest) -> ModelReply:
        """The schematic of the prompt, moved a little by the pictures; no pixel of them is kept."""
        seed = "/".join((f"{request.seed}/{request.sample}", *request.images))
        pictures = await asyncio.to_thread(lambda: [self._picture(name) for name in request.images])
        return await _draw(request.prompt, seed, pictures)


async def _draw(prompt: str, seed: str, pictures: Sequence[bytes] = ()) -> ModelReply:
    try:
        png = await run_in_worker(sketch.paint_sketch, prompt, seed, pictures)
    except MissingGlyph as why:
        return _refuse(f"sketch cannot write its label: {why}", _SKETCH)
    return ModelReply(pictures=(ImageFile(png, "image/png"),), served_model=_SKETCH)


def _refuse(reason: str, served_model: str) -> ModelReply:
    return ModelReply(refusal=Refusal("model", reason), served_model=served_model)
