"""Inspection of pictures, whatever they are to show: their size, and whether they are blank."""

import io
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import NamedTuple, cast

from PIL import Image

from resources.images import ImageStore
from resources.ledger import WorkLedger, work_key

_VERSION = 1
_AT_ONCE = 500
_THREADS = 4
_NOISE = 4
"""Levels of 255 by which one colour may vary: what JPEG makes of it."""
_DARK = 16
"""The lightest level of a picture that is black."""


class Inspection(NamedTuple):
    """Width and height in px, and "black" or "of one colour" for a picture that shows nothing."""

    width: int
    height: int
    blank: str | None


def inspect_pictures(
    images: ImageStore, ledger: WorkLedger, digests: Iterable[str]
) -> dict[str, Inspection]:
    """The inspection of each picture, by its sha256; one of before is not opened again.

    They are opened a few at a time: the memory that this takes does not grow with their number.
    """
    found: dict[str, Inspection] = {}
    distinct = iter(dict.fromkeys(digests))
    with ThreadPoolExecutor(_THREADS) as threads:
        while some := list(islice(distinct, _AT_ONCE)):
            keys = {digest: work_key("seen", _VERSION, digest) for digest in some}
            known = ledger.known(keys.values())
            new = [digest for digest, key in keys.items() if key not in known]
            inspected = threads.map(partial(_inspect, images), new)
            known |= dict(zip((keys[digest] for digest in new), inspected, strict=True))
            ledger.record({keys[digest]: known[keys[digest]] for digest in new})
            found |= {digest: Inspection(*known[key]) for digest, key in keys.items()}
    return found


def _inspect(images: ImageStore, digest: str) -> Inspection:
    with Image.open(io.BytesIO(images.get(digest))) as image:
        ranges = cast(Sequence[tuple[int, int]], image.convert("RGB").getextrema())
        one_colour = all(high - low <= _NOISE for low, high in ranges)
        black = all(high <= _DARK for _, high in ranges)
        return Inspection(
            *image.size, "black" if black else "of one colour" if one_colour else None
        )
