"""An image at another size (VLMBias, Section 3.1)."""

import io

from PIL import Image


def resized(png: bytes, longer: int) -> bytes:
    """The image with its longer side `longer` px, both sides by the same factor, as an RGB PNG.

    A smaller image is enlarged, as in the paper, which makes it no sharper: whoever keeps the
    result says how large its source was. The filter is Lanczos's; the bytes are the same each time.
    """
    with Image.open(io.BytesIO(png)) as image:
        scale = longer / max(image.size)
        width, height = (max(1, round(side * scale)) for side in image.size)
        pixels = image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    Image.frombytes("RGB", pixels.size, pixels.tobytes()).save(file, "PNG")
    return file.getvalue()
