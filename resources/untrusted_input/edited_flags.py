"""Flags as SVG by a model: extracted from the reply, drawn on our ground, and counted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from generators.canvas import decode_png, rasterise
from generators.domains.flags.draw import GROUND
from generators.reading import Pixels
from generators.worker_jobs import ImageReadings, ReadJob, read_png
from resources.untrusted_input.sandbox import SandboxFailure, run_sandboxed
from resources.untrusted_input.svg import BadSvg, read_view_box, sanitize_svg

PATIENCE_S = 20
"""Processor time for one reply; a flag takes 0.1 s."""

_CODE = re.compile(r"<code\b[^<>]*>", re.IGNORECASE)
_CODE_ENDS = re.compile(r"</code\s*>", re.IGNORECASE)
_BEGINS = re.compile(r"<\?xml\b|<!DOCTYPE\b|<svg\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FlagReply:
    """A model's reply, to be drawn with a longer side of `size` px and read for `targets`."""

    reply: str
    targets: Sequence[str]
    size: int


@dataclass(frozen=True, slots=True)
class DrawnFlag:
    """The picture that a reply drew and the readings of its pixels, or the reason for none."""

    outcome: Literal["drawn", "no svg", "unsafe", "unreadable"]
    reason: str = ""
    png: bytes = b""
    reading: ImageReadings | None = None


def draw_flags(answers: Sequence[FlagReply]) -> list[DrawnFlag]:
    """Draw and read the flags in replies; no reply raises an error.

    A few shapes can keep a rasteriser busy for hours: it works where it can be ended.
    """
    return [
        DrawnFlag(outcome="unsafe", reason=f"{result}.")
        if isinstance(result, SandboxFailure)
        else result
        for result in run_sandboxed(_draw_flag, answers, PATIENCE_S)
    ]


def _draw_flag(answer: FlagReply) -> DrawnFlag:
    svg = extract_svg(answer.reply)
    if svg is None:
        return DrawnFlag(
            outcome="no svg", reason="There is no <svg> element with its end in the reply."
        )
    try:
        png = render_flag(sanitize_svg(svg), answer.size)
    except BadSvg as error:
        return DrawnFlag(outcome="unsafe", reason=f"{error}.")
    reading = read_png(ReadJob("flags", png, answer.targets, is_legibility_read=False))
    return DrawnFlag(
        outcome="unreadable" if reading.problem else "drawn",
        reason=reading.problem,
        png=png,
        reading=reading,
    )


def extract_svg(reply: str) -> str | None:
    """The SVG within `<code>`, else the first in the reply, fenced or bare; None without one."""
    code = _CODE.search(reply)
    code_end = code and _CODE_ENDS.search(reply, code.end())
    text = reply[code.end() : code_end.start()] if code and code_end else reply
    start, end_tag_index = _BEGINS.search(text), text.rfind("</svg>")
    if start is None or end_tag_index < start.start():
        return None
    return text[start.start() : end_tag_index + len("</svg>")]


def render_flag(svg: str, size: int) -> bytes:
    """Draw the SVG of `sanitize_svg`, its longer side `size` px, on the grey that flags lie on.

    A drawing whose edge is that grey, or open, lies on it already; another gets a margin of a
    twenty-fourth. What a drawing leaves open shows the grey. The rasteriser, resvg, fetches
    nothing: it has no network, and no element that could name a file is left.
    """
    full_bleed = rasterise(_add_ground(svg, size, margin=0))
    if _has_ground(decode_png(full_bleed)):
        return full_bleed
    return rasterise(_add_ground(svg, size, margin=round(size / 24)))


def _add_ground(svg: str, size: int, margin: int) -> str:
    *_, width, height = read_view_box(svg)
    scale = (size - 2 * margin) / max(width, height)
    across, down = round(width * scale), round(height * scale)
    place = f'x="{margin}" y="{margin}" width="{across}" height="{down}" preserveAspectRatio="none"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across + 2 * margin}" '
        f'height="{down + 2 * margin}"><rect width="100%" height="100%" fill="{GROUND}"/>'
        f"{svg.replace('<svg', f'<svg {place}', 1)}</svg>"
    )


def _has_ground(pixels: Pixels) -> bool:
    grey = bytes.fromhex(GROUND.removeprefix("#"))
    edges = (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1])
    return all(bool((abs(edge.astype(int) - list(grey)) <= 2).all()) for edge in edges)
