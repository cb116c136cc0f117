"""Vector pictures and their pixels.

Scenes are written as SVG with svgwrite and rasterised by resvg, which comes as a wheel and
uses nothing of the system, so that the same SVG gives the same bytes on every machine. No
`<text>` element is ever drawn: letters are outlines (see `generators.glyphs`).
"""

import io

import numpy as np
import resvg_py
import svgwrite
from PIL import Image

from generators.reading import Pixels

RASTERISER = f"resvg {resvg_py.__resvg_version__}"


def create_canvas(width: int, height: int, background: str = "#ffffff") -> svgwrite.Drawing:
    """An empty drawing of `width` x `height` px, one unit a pixel, filled with `background`."""
    drawing = svgwrite.Drawing(size=(width, height), profile="tiny", debug=False)
    drawing.viewbox(0, 0, width, height)
    drawing.add(drawing.rect((0, 0), (width, height), fill=background))
    return drawing


def rasterise(svg: str) -> bytes:
    """The PNG of an SVG at the size that the SVG states: opaque, 8 bits a channel."""
    return resvg_py.svg_to_bytes(svg_string=svg, background="#ffffff", skip_system_fonts=True)


def decode_png(png: bytes) -> Pixels:
    """Decode a PNG to H x W x 3 values of uint8."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))
