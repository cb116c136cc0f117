"""Pictures that a provider might send: small, deterministic, and some of them broken."""

import io
import struct
import zlib
from functools import cache
from hashlib import sha256

from PIL import Image

NOT_A_PICTURE = b"<html><body>This is not a picture.</body></html>"


def png(seed: str, width: int = 64, height: int = 64) -> bytes:
    """Stripes in two colours, told by the seed."""
    digest = sha256(seed.encode()).digest()
    row = b"\0" + (digest * (width // len(digest) + 1))[: (width + 7) // 8]
    return _png(width, height, palette=digest[:6], packed=zlib.compress(row * height))


@cache
def wide_png() -> bytes:
    """30,000 x 30,000 blank pixels in about 110 kB: a file that must not be decoded in full."""
    side = 30_000
    packer = zlib.compressobj()
    row = bytes(1 + (side + 7) // 8)
    packed = b"".join(packer.compress(row * 1000) for _ in range(side // 1000))
    return _png(side, side, palette=b"\xff\xff\xff\0\0\0", packed=packed + packer.flush())


def truncated_png(seed: str) -> bytes:
    """The first half of a file."""
    whole = png(seed)
    return whole[: len(whole) // 2]


def converted(picture: bytes, file_format: str) -> bytes:
    """The same picture as a file of another format, such as `jpeg` or `webp`."""
    file = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").save(file, file_format)
    return file.getvalue()


def _png(width: int, height: int, *, palette: bytes, packed: bytes) -> bytes:
    header = struct.pack(">2I5B", width, height, 1, 3, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", packed), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
