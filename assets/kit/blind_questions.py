"""Blind questions: a judge is asked without the picture, to learn what it remembers.

They are asked of judges whose entry has `blind`, so that nobody pays for them unasked.
"""

from collections.abc import Collection, Mapping
from functools import cache

from PIL import Image

from generators.tiles import encode_png
from resources.models.catalog import Model
from resources.models.requests import LookRequest, Turn
from resources.storage.image_store import ImageStore

_GREY = (128, 128, 128)


def put_blind_pictures(
    judge: Model, digests: Collection[str], images: ImageStore
) -> Mapping[str, str]:
    """Store a grey picture of the size of each of these; return its sha256 by theirs.

    Empty for a judge that is asked in words alone.
    """
    sizes = images.sizes(digests) if judge.blind == "grey" else {}
    grey = {size: images.put(_draw_grey(size)) for size in set(sizes.values())}
    return {digest: grey[size] for digest, size in sizes.items()}


@cache
def _draw_grey(size: tuple[int, int]) -> bytes:
    return encode_png(Image.new("RGB", size, _GREY))


def build_blind_request(prompt: str, picture: str | None) -> LookRequest:
    """Build the request of a blind question, beside a grey picture if there is one."""
    return LookRequest((Turn("user", prompt, () if picture is None else (picture,)),))
