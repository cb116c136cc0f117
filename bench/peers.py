"""The same pictures drawn by the libraries that the authors' scripts rest on, side by side."""

import io
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import process_time

import cairosvg
import chess
import chess.svg
import pyllusion

from bench.drawing import benchmark
from bench.figure import Figure
from generators.worker_jobs import draw_png

_SIZE, _TIMES = 768, 3
_ILLUSIONS = {
    "ebbinghaus": (pyllusion.Ebbinghaus, 3),
    "muller-lyer": (pyllusion.MullerLyer, 30),
    "ponzo": (pyllusion.Ponzo, 15),
    "zollner": (pyllusion.Zollner, 50),
    "poggendorff": (pyllusion.Poggendorff, 30),
}


def figures() -> Iterator[Figure]:
    """Five illusions against pyllusion, and a chess board against chess.svg with CairoSVG."""
    for name, (illusion, strength) in _ILLUSIONS.items():
        theirs = partial(_pyllusion, illusion, strength)
        yield from _both(f"optical_illusions/{name}-strength-{strength}", "pyllusion", theirs)
    yield from _both("chess_pieces/chess-", "chess.svg and CairoSVG", _chess)


def _both(ours: str, package: str, theirs: Callable[[], bytes]) -> Iterator[Figure]:
    jobs = benchmark(ours.partition("/")[0], [_SIZE])
    job = next(job for job in jobs if job.scene.base_id.startswith(ours))
    for whose, draw in (("Counterfactory", partial(draw_png, job)), (package, theirs)):
        spent = median(_milliseconds(draw) for _ in range(_TIMES))
        yield Figure(f"{job.scene.subject} at {_SIZE} px by {whose}", spent, "ms of a core")


def _pyllusion(illusion: type, strength: float) -> bytes:
    picture = illusion(illusion_strength=strength, difference=0)
    file = io.BytesIO()
    picture.to_image(width=_SIZE, height=_SIZE).save(file, "PNG")
    return file.getvalue()


def _chess() -> bytes:
    png: bytes = cairosvg.svg2png(chess.svg.board(chess.Board(), size=_SIZE).encode())
    return png


def _milliseconds(draw: Callable[[], bytes]) -> float:
    started = process_time()
    draw()
    return 1000 * (process_time() - started)
