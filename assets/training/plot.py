"""A plot of a training in the Dagster UI: its numbers by step."""

import base64
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dagster import MarkdownMetadataValue, MetadataValue
from PIL import Image, ImageDraw

_WIDTH, _HEIGHT, _LEFT, _GAP = 640, 120, 70, 26
_INK, _GRID, _LINE = "#333333", "#cccccc", "#0b6bcb"
_TITLES = {
    "loss": "loss",
    "reward": "reward, -1 to 1.5",
    "reward_std": "standard deviation of rewards over the batch, also between pictures",
    "frac_reward_zero_std": "pictures whose samples all have one reward, 0 to 1",
    "misranked": "pairs misranked while training, 0 to 1",
}


def plot_training(lines: Sequence[Mapping[str, Any]]) -> MarkdownMetadataValue:
    """Loss, reward, its spread and misranked pairs by step, one above the other, as a PNG."""
    names = [name for name in _TITLES if any(name in line for line in lines)]
    image = Image.new("RGB", (_WIDTH, len(names) * (_HEIGHT + _GAP) + _GAP), "white")
    draw = ImageDraw.Draw(image)
    for row, name in enumerate(names):
        points_by_step = [(line["step"], line[name]) for line in lines if name in line]
        _panel(draw, row * (_HEIGHT + _GAP) + _GAP, _TITLES[name], points_by_step)
    file = io.BytesIO()
    image.quantize(16).save(file, "PNG", optimize=True)
    data = base64.b64encode(file.getvalue()).decode()
    return MetadataValue.md(f"![loss, reward and spread by step](data:image/png;base64,{data})")


def _panel(
    draw: ImageDraw.ImageDraw, top: int, title: str, points_by_step: Sequence[tuple[int, float]]
) -> None:
    """Draw a number by step, with the ends of its scale."""
    values = [value for _, value in points_by_step if math.isfinite(value)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    span, last = high - low or 1.0, max(points_by_step[-1][0], 2)
    right, bottom = _WIDTH - 10, top + _HEIGHT
    for value, y in ((high, top), (low, bottom)):
        draw.line([(_LEFT, y), (right, y)], fill=_GRID)
        draw.text((4, y - 6), f"{value:.3g}", fill=_INK)
    draw.text((_LEFT, top - 14), f"{title}, steps 1 to {points_by_step[-1][0]}", fill=_INK)
    points = [
        (_LEFT + (right - _LEFT) * (step - 1) / (last - 1), bottom - _HEIGHT * (value - low) / span)
        for step, value in points_by_step
        if math.isfinite(value)
    ]
    if len(points) > 1:
        draw.line(points, fill=_LINE, width=2)
