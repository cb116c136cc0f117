"""Decoding of untrusted images: what is stored is a plain PNG, whatever was sent."""

import io
import warnings
from contextlib import suppress
from threading import Lock

from PIL import Image

from generators.opaque_rgb import to_opaque_rgb
from resources.models.replies import ImageFile
from resources.untrusted_input.png_check import MAX_AREA, MAX_SIDE, BadPng, check_png

_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/jpg": "JPEG", "image/webp": "WEBP"}

_FILTERS = Lock()
"""Filters of warnings are the process's: of two threads that set them, one leaves its own there."""


class BadImage(ValueError):
    """A file that is not the image it claims to be, or a larger one than is taken."""


def decode_image(picture: ImageFile) -> bytes:
    """An opaque 8-bit RGB PNG without foreign metadata, turned as its EXIF says.

    PNG, JPEG and WebP are taken, of at most 8,192 px per side and 30 megapixels; transparency is
    laid on white. What is such a PNG already is kept byte for byte, which takes a tenth of the
    time. The size is read before anything is decoded. Raises `BadImage` where the file is cut
    short, too large, animated, of another format, or not of the media type that it came with.
    """
    claimed = _format(picture.media_type)
    if claimed in (None, "PNG"):
        with suppress(BadPng):
            check_png(picture.data)
            return picture.data
    try:
        with _FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(picture.data), formats=sorted(set(_FORMATS.values())))
    except Image.DecompressionBombError:
        raise BadImage(f"The image has more than {MAX_AREA // 1_000_000} megapixels") from None
    except (OSError, ValueError, SyntaxError):
        kinds = ", ".join(sorted(set(_FORMATS.values())))
        raise BadImage(f"{len(picture.data):,} bytes that are no image ({kinds})") from None
    with image:
        _check(image, picture.media_type, claimed)
        try:
            image.load()
            plain = to_opaque_rgb(image)
        except Exception as error:  # noqa: BLE001 - decoders raise what they like
            raise BadImage(f"The {image.format} cannot be decoded whole ({error})") from None
        png = io.BytesIO()
        plain.save(png, "PNG")
    return png.getvalue()


def _format(media_type: str | None) -> str | None:
    """Pillow's name of a media type, whatever parameters it has; what it says is none as it is."""
    kind = (media_type or "").partition(";")[0].strip().lower()
    return _FORMATS.get(kind, kind) or None


def _check(image: Image.Image, media_type: str | None, claimed: str | None) -> None:
    width, height = image.size
    if max(width, height) > MAX_SIDE or width * height > MAX_AREA:
        raise BadImage(
            f"The image is {width} × {height} px; at most {MAX_SIDE:,} px per side and "
            f"{MAX_AREA // 1_000_000} megapixels are taken"
        )
    # A JPEG with previews or a depth map after it, as cameras and telephones make.
    image_format = "JPEG" if image.format == "MPO" else image.format
    if claimed not in (None, image_format):
        raise BadImage(f"The image came as {media_type} but is {image_format}")
    if image.format != "MPO" and getattr(image, "n_frames", 1) > 1:
        raise BadImage("The image is animated: one picture was asked for")
