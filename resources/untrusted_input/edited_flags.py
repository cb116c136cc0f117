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
"""How long one reply may keep a processor to be drawn and read; a flag takes 0.1 s."""

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
    """What became of a reply: the picture and what its pixels say, or why there is none."""

    ending: Literal["drawn", "no svg", "unsafe", "unreadable"]
    problem: str = ""
    png: bytes = b""
    found: ImageReadings | None = None


def draw_flags(answers: Sequence[FlagReply]) -> list[DrawnFlag]:
    """Draw and read the flags in replies; what a model sends is never an error of ours.

    A few shapes can keep a rasteriser busy for hours: it works where it can be ended.
    """
    return [
        DrawnFlag("unsafe", f"{result}.") if isinstance(result, SandboxFailure) else result
        for result in run_sandboxed(_seen, answers, PATIENCE_S)
    ]


def _seen(answer: FlagReply) -> DrawnFlag:
    svg = extract_svg(answer.reply)
    if svg is None:
        return DrawnFlag("no svg", "There is no <svg> element with its end in the reply.")
    try:
        png = render_flag(sanitize_svg(svg), answer.size)
    except BadSvg as why:
        return DrawnFlag("unsafe", f"{why}.")
    found = read_png(ReadJob("flags", png, answer.targets, is_legibility_read=False))
    return DrawnFlag("unreadable" if found.problem else "drawn", found.problem, png, found)


def extract_svg(reply: str) -> str | None:
    """The SVG within `<code>`, else the first in the reply, fenced or bare; None without one."""
    code = _CODE.search(reply)
    end = code and _CODE_ENDS.search(reply, code.end())
    text = reply[code.end() : end.start()] if code and end else reply
    begins, ends = _BEGINS.search(text), text.rfind("</svg>")
    if begins is None or ends < begins.start():
        return None
    return text[begins.start() : ends + len("</svg>")]


def render_flag(svg: str, size: int) -> bytes:
    """The PNG of what `safe_svg` gave, its longer side `size` px, on the grey that flags lie on.

    A drawing whose edge is that grey, or open, lies on it already; another gets a margin of a
    twenty-fourth. What a drawing leaves open shows the grey. The rasteriser, resvg, fetches
    nothing: it has no network, and no element that could name a file is left.
    """
    whole = rasterise(_on_ground(svg, size, margin=0))
    if _has_ground(decode_png(whole)):
        return whole
    return rasterise(_on_ground(svg, size, margin=round(size / 24)))


def _on_ground(svg: str, size: int, margin: int) -> str:
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
