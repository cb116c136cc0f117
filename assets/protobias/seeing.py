"""What is seen of a picture by who does not know what it is to show: its size, and blankness."""

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


class Seen(NamedTuple):
    """Width and height in px, and "black" or "of one colour" for a picture that shows nothing."""

    width: int
    height: int
    blank: str | None


def seen_in(images: ImageStore, ledger: WorkLedger, digests: Iterable[str]) -> dict[str, Seen]:
    """What is seen of each picture, by its sha256; one that was looked at before is not opened.

    They are opened a few at a time: the memory that this takes does not grow with their number.
    """
    found: dict[str, Seen] = {}
    distinct = iter(dict.fromkeys(digests))
    with ThreadPoolExecutor(_THREADS) as threads:
        while some := list(islice(distinct, _AT_ONCE)):
            keys = {digest: work_key("seen", _VERSION, digest) for digest in some}
            known = ledger.known(keys.values())
            new = [digest for digest, key in keys.items() if key not in known]
            looked = threads.map(partial(_look, images), new)
            known |= dict(zip((keys[digest] for digest in new), looked, strict=True))
            ledger.record({keys[digest]: known[keys[digest]] for digest in new})
            found |= {digest: Seen(*known[key]) for digest, key in keys.items()}
    return found


def _look(images: ImageStore, digest: str) -> Seen:
    with Image.open(io.BytesIO(images.get(digest))) as image:
        ranges = cast(Sequence[tuple[int, int]], image.convert("RGB").getextrema())
        one_colour = all(high - low <= _NOISE for low, high in ranges)
        black = all(high <= _DARK for _, high in ranges)
        return Seen(*image.size, "black" if black else "of one colour" if one_colour else None)
