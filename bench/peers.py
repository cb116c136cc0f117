"""The same pictures drawn by the libraries that the authors' scripts rest on, side by side."""

import io
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import process_time
from typing import NamedTuple

import cairosvg
import chess
import chess.svg
import pyllusion

from bench.pace import benchmark
from generators.work import draw_png

_SIZE, _TIMES = 768, 3
_ILLUSIONS = {
    "ebbinghaus": (pyllusion.Ebbinghaus, 3),
    "muller-lyer": (pyllusion.MullerLyer, 30),
    "ponzo": (pyllusion.Ponzo, 15),
    "zollner": (pyllusion.Zollner, 50),
    "poggendorff": (pyllusion.Poggendorff, 30),
}


class Peer(NamedTuple):
    """Median milliseconds of one core for a PNG of one picture, ours and theirs."""

    picture: str
    package: str
    ours: float
    theirs: float


def peers() -> Iterator[Peer]:
    """Five illusions against pyllusion, and a chess board against chess.svg with CairoSVG."""
    for name, (illusion, strength) in _ILLUSIONS.items():
        ours = _ours("optical_illusions", f"{name}-strength-{strength}")
        yield Peer(name, "pyllusion", ours, _milliseconds(partial(_pyllusion, illusion, strength)))
    ours = _ours("chess_pieces", "chess-")
    yield Peer("chess pieces", "chess.svg and CairoSVG", ours, _milliseconds(_chess))


def _ours(topic: str, start: str) -> float:
    wanted = f"{topic}/{start}"
    job = next(j for j in benchmark(topic, [_SIZE]) if j.scene.base_id.startswith(wanted))
    return _milliseconds(partial(draw_png, job))


def _pyllusion(illusion: type, strength: float) -> bytes:
    picture = illusion(illusion_strength=strength, difference=0)
    file = io.BytesIO()
    picture.to_image(width=_SIZE, height=_SIZE).save(file, "PNG")
    return file.getvalue()


def _chess() -> bytes:
    png: bytes = cairosvg.svg2png(chess.svg.board(chess.Board(), size=_SIZE).encode())
    return png


def _milliseconds(draw: Callable[[], bytes]) -> float:
    def once() -> float:
        started = process_time()
        draw()
        return 1000 * (process_time() - started)

    return median(once() for _ in range(_TIMES))
