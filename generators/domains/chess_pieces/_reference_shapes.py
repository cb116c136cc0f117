"""Reference shapes of the pieces of both games, from public art.

Chessmen are compared with python-chess's own set, xiangqi pieces with the characters of
IPAexGothic. A type is known by its shape in either colour.
"""

import io
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import chess
import chess.svg
import numpy as np
import resvg_py
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.ttLib import TTFont
from PIL import Image

from generators.domains.chess_pieces._piece_finder import compute_darkness, find_chessmen
from generators.domains.chess_pieces._signatures import Ink, compute_signature
from generators.reading import Pixels

CHESSMEN = {
    "Pawn": "Pp",
    "Knight": "Nn",
    "Bishop": "Bb",
    "Rook": "Rr",
    "Queen": "Qq",
    "King": "Kk",
}
CHARACTERS = {
    "Soldier": "兵卒",
    "Horse": "馬",
    "Elephant": "相象",
    "Chariot": "俥車",
    "Cannon": "炮砲",
    "Advisor": "仕士",
    "General": "帥將",
}

_SIZE = 90
"""Side in px of the pictures that shapes are taken from."""


class PieceShapes:
    """The shapes that a game's pieces have, by type."""

    def __init__(self, looks: Mapping[str, str], shape_of: Callable[[str], Ink]) -> None:
        self._types = np.array([kind for kind, marks in looks.items() for _ in marks])
        self._shapes = np.array(
            [compute_signature(shape_of(m)) for marks in looks.values() for m in marks]
        )
        rivals = self._types[:, None] != self._types
        self._min_likeness = (1 + (self._shapes @ self._shapes.T)[rivals].max()) / 2

    def recognise(self, ink: Ink) -> str | None:
        """The type that a piece of this shape is of.

        None if its correlation with that type is not even halfway between 1 and that of the two
        types that are most alike.
        """
        likeness = self._shapes @ compute_signature(ink)
        best = likeness.argmax()
        return str(self._types[best]) if likeness[best] >= self._min_likeness else None


@cache
def load_chess_shapes() -> PieceShapes:
    """The six chessmen, white and black."""
    return PieceShapes(CHESSMEN, _draw_silhouette)


@cache
def load_xiangqi_shapes() -> PieceShapes:
    """The seven pieces by the characters that either side writes."""
    return PieceShapes(CHARACTERS, _draw_character)


def _draw_silhouette(symbol: str) -> Ink:
    svg = chess.svg.piece(chess.Piece.from_symbol(symbol), size=_SIZE)
    return find_chessmen(_rasterise(svg, background="#00c000"))[0].ink


def _draw_character(character: str) -> Ink:
    font = _load_font()
    pen = SVGPathPen(font.getGlyphSet())
    font.getGlyphSet()[font.getBestCmap()[ord(character)]].draw(pen)
    em = font["head"].unitsPerEm
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE}" height="{_SIZE}" '
        f'viewBox="0 0 {em} {em}"><path transform="matrix(1 0 0 -1 0 {em * 0.88:g})" '
        f'd="{pen.getCommands()}"/></svg>'
    )
    return compute_darkness(_rasterise(svg, background="#ffffff"))


@cache
def _load_font() -> TTFont:
    package = find_spec("matplotlib_fontja")
    if package is None or package.origin is None:
        raise ModuleNotFoundError(
            "The package matplotlib-fontja, which carries the font, is missing."
        )
    file = Path(package.origin).parent / "fonts" / "ipaexg.ttf"
    return TTFont(io.BytesIO(file.read_bytes()), lazy=True)


def _rasterise(svg: str, background: str) -> Pixels:
    png = resvg_py.svg_to_bytes(svg_string=svg, background=background, skip_system_fonts=True)
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))
