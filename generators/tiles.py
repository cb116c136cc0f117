"""Pictures composed of tiles: repeated parts are drawn and rasterised once.

Rasterising and packing a whole picture takes several times as long as placing its parts.
"""

import io
from typing import TypeAlias

import resvg_py
import svgwrite
from PIL import Image

Tile: TypeAlias = Image.Image
"""RGBA; transparent where nothing is drawn. It is shared: do not change it."""
_EFFORT = 1
"""PNG compression level, 0 to 9: a higher one takes longer and saves a tenth."""


def create_sheet(width: int, height: int) -> svgwrite.Drawing:
    """An empty drawing of `width` x `height` px, to draw a tile on."""
    drawing = svgwrite.Drawing(size=(width, height), profile="tiny", debug=False)
    drawing.viewbox(0, 0, width, height)
    return drawing


def rasterise_tile(drawing: svgwrite.Drawing) -> Tile:
    """The tile of a drawing."""
    png = resvg_py.svg_to_bytes(svg_string=drawing.tostring(), skip_system_fonts=True)
    with Image.open(io.BytesIO(png)) as image:
        return image.convert("RGBA")


def paste_tile(picture: Image.Image, part: Tile, x: int, y: int) -> None:
    """Put a tile on the picture, the middle of its lower edge at x and y."""
    picture.paste(part, (x - part.width // 2, y - part.height), part)


def encode_png(picture: Image.Image) -> bytes:
    """The PNG of a picture without transparency: 8 bits a channel."""
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=_EFFORT)
    return file.getvalue()
