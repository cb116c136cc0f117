"""Pictures as large as they are shown: what models paint is ten times larger than that."""

import io
from typing import NamedTuple

from PIL import Image

_QUALITY, _EFFORT = 80, 2


class Thumbnail(NamedTuple):
    """A picture by its sha256, to be shown with a longer side of at most `longer` px."""

    sha256: str
    longer: int

    @property
    def file(self) -> str:
        """Where it lies in the site."""
        return f"thumbs/{self.sha256}-{self.longer}.webp"


def thumbnail(png: bytes, longer: int) -> bytes:
    """A WebP of the picture, made smaller where its longer side has more than `longer` px."""
    with Image.open(io.BytesIO(png)) as image:
        small = image.convert("RGB")
        small.thumbnail((longer, longer), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.save(file, "WEBP", quality=_QUALITY, method=_EFFORT)
    return file.getvalue()


def is_whole(webp: bytes) -> bool:
    """Whether a WebP is as long as its head says."""
    return webp[:4] == b"RIFF" and int.from_bytes(webp[4:8], "little") + 8 == len(webp)
