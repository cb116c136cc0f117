"""A check of PNG files: that one is as the image store keeps it, and holds nothing more.

Everything is looked at that a decoder would, by means that let other threads work meanwhile.
"""

import struct
import zlib
from collections.abc import Iterator

MAX_SIDE = 8192
MAX_AREA = 30_000_000
"""Largest area in px: noise, the slowest to store, then takes about 5 s of processor time."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNK = struct.Struct(">I4s")
_CRC = struct.Struct(">I")
_HEADER = struct.Struct(">IIBBBBB")
_OPAQUE_8_BITS = [8, 2, 0, 0, 0]
"""Bit depth, RGB, deflate, the usual filters, not interlaced."""
_FILTERS = 5


class BadPng(ValueError):
    """Bytes that are no such PNG; the message says why."""


def read_png_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG in px, from its header."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def check_png(png: bytes) -> None:
    """Raise `BadPng` unless this is an opaque 8-bit RGB PNG without metadata, whole to its end."""
    chunks = _chunks(png)
    kind, header = next(chunks)
    if kind != b"IHDR" or len(header) != _HEADER.size:
        raise BadPng("it is no PNG")
    width, height, *form = _HEADER.unpack(header)
    if form != _OPAQUE_8_BITS:
        raise BadPng("it is no opaque PNG of 8 bits")
    if max(width, height) > MAX_SIDE or not 0 < width * height <= MAX_AREA:
        raise BadPng(f"it is {width} × {height} px")
    rows = _Rows(width, height)
    for kind, data in chunks:
        if kind == b"IDAT":
            rows.take(data)
        elif kind != b"IEND":
            raise BadPng(f"it holds more than a picture ({kind.decode('ascii', 'replace')})")
    rows.end()


class _Rows:
    """The rows of a picture as they are unpacked: each begins with the number of its filter."""

    def __init__(self, width: int, height: int) -> None:
        self._row, self._length, self._at = 1 + 3 * width, height * (1 + 3 * width), 0
        self._inflating = zlib.decompressobj()

    def take(self, data: memoryview) -> None:
        try:
            rows = self._inflating.decompress(data, self._length - self._at + 1)
        except zlib.error as error:
            raise BadPng(f"it cannot be unpacked ({error})") from None
        if max(rows[-self._at % self._row :: self._row], default=0) >= _FILTERS:
            raise BadPng("it cannot be unpacked (a row without a filter)")
        self._at += len(rows)
        if self._at > self._length:
            raise BadPng("it unpacks to more than its size")

    def end(self) -> None:
        """Raise `BadPng` unless these were all rows, and nothing else."""
        ended = self._inflating.eof and not self._inflating.unused_data
        if self._at != self._length or not ended:
            raise BadPng("it unpacks to another length than its size")


def _chunks(png: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """The chunks by kind, the last of which is IEND, where the bytes end as well."""
    view, offset, kind = memoryview(png), len(_SIGNATURE), b""
    if not png.startswith(_SIGNATURE):
        raise BadPng("it is no PNG")
    while kind != b"IEND":
        if offset + _CHUNK.size > len(png):
            raise BadPng("it is cut short")
        length, kind = _CHUNK.unpack_from(png, offset)
        data = view[offset + _CHUNK.size : offset + _CHUNK.size + length]
        offset += _CHUNK.size + length + _CRC.size
        if offset > len(png):
            raise BadPng("it is cut short")
        if _CRC.unpack_from(png, offset - _CRC.size)[0] != zlib.crc32(data, zlib.crc32(kind)):
            raise BadPng("it is damaged")
        yield kind, data
    if offset != len(png):
        raise BadPng("it holds more than a picture (after its end)")
