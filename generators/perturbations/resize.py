"""An image at another size (VLMBias, Section 3.1)."""

import io
from dataclasses import dataclass

from PIL import Image


@dataclass(frozen=True, slots=True)
class ResizeJob:
    """An image to resize to a longer side of `size` px."""

    png: bytes
    size: int


def resize_png(resizing: ResizeJob) -> bytes:
    """The image with its longer side `size` px, both sides by the same factor, as an RGB PNG.

    A smaller image is enlarged, as in the paper, which makes it no sharper: whoever keeps the
    result says how large its source was. The filter is Lanczos's; the bytes are the same each time.
    """
    with Image.open(io.BytesIO(resizing.png)) as image:
        scale = resizing.size / max(image.size)
        width, height = (max(1, round(side * scale)) for side in image.size)
        pixels = image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    Image.frombytes("RGB", pixels.size, pixels.tobytes()).save(file, "PNG")
    return file.getvalue()
