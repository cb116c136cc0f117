"""Whether a PNG is what the image store keeps of pictures that models make, and nothing more."""

import io
import struct

from PIL import Image

from resources.pictures import LARGEST_AREA, LARGEST_SIDE

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">I4sIIBBBBB")
_OPAQUE_8_BITS = (8, 2, 0, 0, 0)
"""Bit depth, RGB, deflate, the usual filters, not interlaced."""


def flaw_of(png: bytes) -> str | None:
    """What keeps these bytes from being an opaque 8-bit RGB PNG without metadata; None is nothing.

    The size is read before anything is decoded, and then every pixel is.
    """
    if not png.startswith(_SIGNATURE) or len(png) < len(_SIGNATURE) + _HEADER.size:
        return "it is no PNG"
    _, kind, width, height, *form = _HEADER.unpack_from(png, len(_SIGNATURE))
    if kind != b"IHDR" or tuple(form) != _OPAQUE_8_BITS:
        return "it is no opaque PNG of 8 bits"
    if max(width, height) > LARGEST_SIDE or width * height > LARGEST_AREA:
        return f"it is {width} × {height} px"
    foreign = _chunks(png) - {b"IHDR", b"IDAT", b"IEND"}
    if foreign:
        return f"it holds more than a picture ({foreign.pop().decode('ascii', 'replace')})"
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            image.load()
    except Exception as error:  # noqa: BLE001 - decoders raise what they like
        return f"it cannot be decoded ({error})"
    return None


def _chunks(png: bytes) -> set[bytes]:
    """The kinds of its chunks; b"more" stands for bytes that belong to none."""
    kinds, at = set(), len(_SIGNATURE)
    while at + 12 <= len(png) and b"IEND" not in kinds:
        length, kind = struct.unpack_from(">I4s", png, at)
        kinds.add(kind)
        at += 12 + length
    return kinds if at == len(png) else {*kinds, b"more"}
