"""Pictures as opaque RGB of 8 bits, upright and without metadata."""

from PIL import Image, ImageOps


def to_opaque_rgb(image: Image.Image) -> Image.Image:
    """The picture in RGB, turned as its EXIF says; transparency is laid on white.

    Of 16 bits the upper 8 are kept. Palettes, greyscale and CMYK become the colours they stand for.
    """
    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I"):
        upright = upright.convert("I").point(lambda value: value / 256).convert("L")
    if upright.has_transparency_data:
        coloured = upright.convert("RGBA")
        ground = Image.new("RGBA", coloured.size, "white")
        upright = Image.alpha_composite(ground, coloured)
    plain = upright.convert("RGB")
    plain.info = {}
    return plain
