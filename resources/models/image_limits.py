"""Limits on the pictures that are shown to a model, as providers publish them.

- OpenAI, "Images and vision", "Image input requirements"
  (developers.openai.com/api/docs/guides/images-vision): 20 MB a picture, 500 pictures and 50 MB of
  pictures a request. "Image edits" (the API reference of `images.edit`): 16 pictures of 50 MB.
- Anthropic, "Vision" (platform.claude.com/docs/en/build-with-claude/vision): 8,000 px a side, 100
  pictures, 32 MB a request; 5 MB a picture, which its API counts as base64.
- Gemini, "Image understanding" (ai.google.dev/gemini-api/docs/image-understanding): 20 MB a
  request with its pictures inline, and 3,600 pictures.

A file takes a third more as base64; all numbers here are of the files themselves. A server of
one's own has the limits that its entry states.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from resources.models.image_tokens import Size

_Number = Annotated[int, Field(ge=1, le=10**12)]
_MB = 1_000_000
_AS_BASE64 = 3 / 4
"""Bytes of a file in a byte of its base64."""


class ImageLimits(BaseModel):
    """The most that a request may show: of a picture, and of all its pictures together.

    Bytes are those of the files. None limits nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    bytes_per_image: _Number | None = None
    longest_side: _Number | None = None
    """Px of the longer side of a picture."""
    pixels: _Number | None = None
    """Width by height of a picture."""
    images_per_request: _Number | None = None
    bytes_per_request: _Number | None = None

    def changed_by(self, other: "ImageLimits | None") -> "ImageLimits":
        """These limits, those in place of them that the other states."""
        stated = {} if other is None else other.model_dump(exclude_none=True)
        return self.model_copy(update=stated)

    def select_weighed(self, images: Sequence[str], sizes: Mapping[str, Size]) -> list[str]:
        """Select the pictures of a request whose files may have more bytes than it may show."""
        bounds = {image: _bound_png(sizes[image]) for image in images if image in sizes}
        total = sum(bounds.get(image, 0) for image in images)
        if self.bytes_per_request is not None and total > self.bytes_per_request:
            return [*bounds]
        most = math.inf if self.bytes_per_image is None else self.bytes_per_image
        return [image for image, bound in bounds.items() if bound > most]

    def describe_excess(
        self, images: Sequence[str], sizes: Mapping[str, Size], file_sizes: Mapping[str, int]
    ) -> str | None:
        """Say which limit the pictures of a request exceed, with its field; None where none does.

        `sizes` are in px and `file_sizes` in bytes, by picture; one that is in neither is not there
        yet, and exceeds nothing.
        """
        if self.images_per_request is not None and len(images) > self.images_per_request:
            return f"{len(images):,} pictures; `images_per_request` is {self.images_per_request:,}"
        for image in images:
            width, height = sizes.get(image, (0, 0))
            if self.longest_side is not None and max(width, height) > self.longest_side:
                return (
                    f"a picture of {width:,} × {height:,} px; `longest_side` is "
                    f"{self.longest_side:,} px"
                )
            if self.pixels is not None and width * height > self.pixels:
                return f"a picture of {width:,} × {height:,} px; `pixels` is {self.pixels:,}"
            file_size = file_sizes.get(image, 0)
            if self.bytes_per_image is not None and file_size > self.bytes_per_image:
                return (
                    f"a picture of {file_size:,} bytes; `bytes_per_image` is "
                    f"{self.bytes_per_image:,}"
                )
        total = sum(file_sizes.get(image, 0) for image in images)
        if self.bytes_per_request is not None and total > self.bytes_per_request:
            return (
                f"pictures of {total:,} bytes together; `bytes_per_request` is "
                f"{self.bytes_per_request:,}"
            )
        return None


NO_LIMITS = ImageLimits()
_LIMITS: Mapping[tuple[str, bool], ImageLimits] = {
    ("openai", False): ImageLimits(
        bytes_per_image=20 * _MB, images_per_request=500, bytes_per_request=50 * _MB
    ),
    ("openai", True): ImageLimits(bytes_per_image=50 * _MB, images_per_request=16),
    ("anthropic", False): ImageLimits(
        bytes_per_image=math.floor(5 * 2**20 * _AS_BASE64),
        longest_side=8000,
        images_per_request=100,
        bytes_per_request=math.floor(32 * _MB * _AS_BASE64),
    ),
    **dict.fromkeys(
        [("gemini", False), ("gemini", True)],
        ImageLimits(images_per_request=3600, bytes_per_request=math.floor(20 * _MB * _AS_BASE64)),
    ),
}
"""By backend, and whether the pictures are to be edited."""
_LEAST_BYTES = min(limits.bytes_per_image or math.inf for limits in _LIMITS.values())


def find_image_limits(
    backend: str, entry_limits: ImageLimits | None, *, is_edit: bool
) -> ImageLimits:
    """The limits of a backend's provider, and those that an entry states in their place."""
    return _LIMITS.get((backend, is_edit), NO_LIMITS).changed_by(entry_limits)


def may_be_heavy(size: Size) -> bool:
    """True where a PNG of that size may have more bytes than some provider takes."""
    return _bound_png(size) > _LEAST_BYTES


def _bound_png(size: Size) -> int:
    """Bytes that a plain RGB PNG has at most: its pixels uncompressed, with a filter a row."""
    width, height = size
    return math.ceil(1.01 * height * (3 * width + 1)) + 10_000
