"""What the tests of local models share: entries, pictures, and ways to ask."""

import asyncio
import io
from hashlib import sha256

from PIL import Image

from resources.models.catalog import Model


def entry(backend, model, **parameters):
    roles = ["painter", "editor"] if backend == "diffusers" else ["judge", "writer"]
    return Model(
        name="tiny",
        backend=backend,
        family="tiny",
        roles=["metric"] if "formula" in parameters else roles,
        model=str(model),
        parameters=parameters,
    )


def picture(colour, size=(16, 16)):
    """A picture of one colour with a white corner, as PNG."""
    image = Image.new("RGB", size, colour)
    image.paste("white", (0, 0, 5, 7))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


class Pictures(dict):
    """Pictures by the sha256 of their bytes, as a backend asks for them."""

    def __init__(self, *pictures):
        super().__init__({sha256(data).hexdigest(): data for data in pictures})

    def __call__(self, name):
        return self[name]


def answers(backend, *asked):
    """What a backend answers to requests that are made together, as (method, request)."""

    async def ask():
        try:
            return await asyncio.gather(*(getattr(backend, how)(what) for how, what in asked))
        finally:
            await backend.aclose()

    return asyncio.run(ask())
