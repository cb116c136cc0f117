"""Readings of a picture, and inquiries: the demands of prompts.

Shared by every domain's `measure` and `ask`. No reading knows a scene.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""An image as H x W x 3 values of 0 to 255, red first."""


class Unreadable(Exception):
    """The pixels do not show what was asked for; the message says what was missing."""


class Legibility(NamedTuple):
    """Width in pixels of the narrowest mark and of the narrowest gap that a count rests on."""

    mark: float
    gap: float


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The demand of a prompt: the targets to measure, and the answer to give for them."""

    targets: tuple[str, ...]
    answer: Callable[[Sequence[float]], str]


def build_count_inquiry(target: str) -> Inquiry:
    """An inquiry that answers with the count itself."""
    return Inquiry(targets=(target,), answer=lambda readings: str(round(readings[0])))


def build_yes_no_inquiry(claims: Mapping[str, float], *, tolerance: float = 0.5) -> Inquiry:
    """An inquiry that answers Yes if each reading is nearer to its claim than `tolerance`."""

    def answer(readings: Sequence[float]) -> str:
        agree = (abs(r - c) < tolerance for r, c in zip(readings, claims.values(), strict=True))
        return "Yes" if all(agree) else "No"

    return Inquiry(targets=tuple(claims), answer=answer)
