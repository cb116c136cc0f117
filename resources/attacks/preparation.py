"""Pre-processing that gradients pass through: what a model's own processor does, in torch.

A picture is a float tensor, 3 x height x width, in [0, 1]. What a processor is set to is read from
its configuration. It works in 8 bits, which have no gradient; this does not round, and so differs
from it by about one level of 255 (see `describe_disagreement`).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from PIL import Image

from resources.models.backends.local_models import import_library

Tensor: TypeAlias = Any
"""A torch.Tensor: torch is imported where it is needed."""
Size: TypeAlias = tuple[int, int]
"""Height and width, in px."""

_BICUBIC = 3
_KEPT = 16
"""Number of cached matrices: for the largest pictures, each takes some 5 MB."""
_FAR, _FAR_ON_AVERAGE = 6.0, 1.0
"""Levels of 255 by which a pixel, and all on average, may differ from the processor's."""


def scale_picture(pixels: Tensor, size: Size, resample: int) -> Tensor:
    """A picture scaled to a size by one of Pillow's filters, width first, as Pillow does it.

    Scaling is linear: Pillow itself gives the weights, for any filter, so that the forward pass is
    its own and the gradient exact and the same on every run. Overshoot is cut after each direction.
    """
    height, width = size
    if width != pixels.shape[-1]:
        pixels = (pixels @ _weights(pixels, width, -1, resample).T).clamp(0, 1)
    if height != pixels.shape[-2]:
        pixels = (_weights(pixels, height, -2, resample) @ pixels).clamp(0, 1)
    return pixels


def prepare_picture(pixels: Tensor, processor: Any) -> Tensor:
    """A picture as an image processor prepares it: padded, scaled, cropped and normalized."""
    if processor.do_resize:
        pixels = scale_picture(
            pixels, _compute_size(pixels, processor.size), _find_filter(processor)
        )
    if getattr(processor, "do_center_crop", None):
        pixels = crop_center(pixels, (processor.crop_size["height"], processor.crop_size["width"]))
    return normalize_picture(pixels, processor)


def pad_to_square(pixels: Tensor, processor: Any) -> Tensor:
    """A picture in the middle of a square of the processor's mean colour."""
    height, width = pixels.shape[-2:]
    side = max(height, width)
    levels = [int(mean * 255) / 255 for mean in processor.image_mean]
    square = pixels.new_tensor(levels)[:, None, None].repeat(1, side, side)
    top_margin, left_margin = (side - height) // 2, (side - width) // 2
    square[:, top_margin : top_margin + height, left_margin : left_margin + width] = pixels
    return square


def crop_center(pixels: Tensor, size: Size) -> Tensor:
    """The middle of a picture; black around one that is smaller."""
    pad = import_library("torch").nn.functional.pad
    for axis, target_length in ((-2, size[0]), (-1, size[1])):
        length = pixels.shape[axis]
        if length < target_length:
            before = (target_length - length + 1) // 2
            after = target_length - length - before
            around = (before, after) if axis == -1 else (0, 0, before, after)
            pixels = pad(pixels, around)
        else:
            pixels = pixels.narrow(axis, (length - target_length) // 2, target_length)
    return pixels


def normalize_picture(pixels: Tensor, processor: Any) -> Tensor:
    """A picture with the processor's factor, mean and standard deviation."""
    pixels = pixels * (255 * processor.rescale_factor if processor.do_rescale else 255)
    if not processor.do_normalize:
        return pixels
    mean, deviation = (
        pixels.new_tensor(channel_values)[:, None, None]
        for channel_values in (processor.image_mean, processor.image_std)
    )
    return (pixels - mean) / deviation


def cut_tiles(pixels: Tensor, processor: Any) -> Tensor:
    """A picture as LLaVA-NeXT takes it: whole in one square, then cut into squares of its own grid.

    Its shape is tiles x 3 x side x side.
    """
    utilities = import_library("transformers.image_processing_utils")
    first = import_library("transformers.image_utils").ChannelDimension.FIRST
    size, crop = processor.size, processor.crop_size
    short = size.get("shortest_edge")
    overview_size = (size["height"], size["width"]) if short is None else (short, short)
    side = crop["height"] if crop else overview_size[0]
    grid = utilities.select_best_resolution(
        tuple(pixels.shape[-2:]), processor.image_grid_pinpoints
    )
    within = utilities.get_patch_output_size(pixels, grid, first)
    filling = _center(scale_picture(pixels, within, _find_filter(processor)), grid)
    cut = [
        filling[:, row : row + side, column : column + side]
        for row in range(0, grid[0], side)
        for column in range(0, grid[1], side)
    ]
    overview = scale_picture(pixels, overview_size, _find_filter(processor))
    return import_library("torch").stack(
        [prepare_picture(tile, processor) for tile in (overview, *cut)]
    )


def describe_disagreement(ours: Tensor, theirs: Tensor, processor: Any) -> str | None:
    """Describe how two preparations differ by more than rounding; None where they do not."""
    if ours.shape != theirs.shape:
        return f"a shape of {tuple(theirs.shape)} where {tuple(ours.shape)} was expected"
    factor = processor.rescale_factor if processor.do_rescale else 1.0
    deviation = ours.new_tensor(processor.image_std if processor.do_normalize else [1.0] * 3)
    difference = (ours - theirs).abs() * deviation[:, None, None] / factor
    most, average = difference.max().item(), difference.mean().item()
    if most <= _FAR and average <= _FAR_ON_AVERAGE:
        return None
    return f"pixels that are {average:.1f} levels of 255 apart on average, {most:.1f} at most"


def _center(pixels: Tensor, size: Size) -> Tensor:
    """A picture in the middle of a black one of that size."""
    (top_margin, odd_row), (left_margin, odd_column) = (
        divmod(target_length - length, 2)
        for target_length, length in zip(size, pixels.shape[-2:], strict=True)
    )
    around = (left_margin, left_margin + odd_column, top_margin, top_margin + odd_row)
    return import_library("torch").nn.functional.pad(pixels, around)


def _compute_size(pixels: Tensor, size: Any) -> Size:
    """The size that a processor's `size` gives a picture."""
    height, width = pixels.shape[-2:]
    short = size.get("shortest_edge")
    if short is None:
        return size["height"], size["width"]
    if width <= height:
        return int(short * height / width), short
    return short, int(short * width / height)


def _find_filter(processor: Any) -> int:
    return int(_BICUBIC if processor.resample is None else processor.resample)


def _weights(pixels: Tensor, after: int, axis: int, resample: int) -> Tensor:
    """Weights of each old row or column for each new one, on the picture's device."""
    return _matrix(pixels.shape[axis], after, resample, str(pixels.device)).to(pixels.dtype)


@lru_cache(_KEPT)
def _matrix(before: int, after: int, resample: int, device: str) -> Tensor:
    """Pillow's weights, after x before: what it makes of one bright row after the other."""
    rows = Image.fromarray(np.eye(before, dtype=np.float32))
    weights = np.array(rows.resize((before, after), Image.Resampling(resample)))
    return import_library("torch").from_numpy(weights).to(device)


def stack_pictures(prepared: Sequence[Tensor]) -> Tensor:
    """Prepared pictures as one tensor; those with fewer tiles end in empty ones."""
    torch = import_library("torch")
    most = max(len(picture) for picture in prepared)
    return torch.stack(
        [
            torch.nn.functional.pad(
                picture, (*(0, 0) * (picture.dim() - 1), 0, most - len(picture))
            )
            for picture in prepared
        ]
    )
