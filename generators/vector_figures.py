"""Vector figures of scenes, for papers and slides.

An SVG is the scene's own; a PDF is made from it by CairoSVG, which needs the cairo library of
the system and is needed for nothing else. Both are drawn for a size, as the pixels are: thin
lines and labels differ a little between sizes.
"""

from typing import Literal

from generators.domains import load_domain
from generators.name_suggestions import find_similar
from generators.scene import Scene

Kind = Literal["svg", "pdf"]


class UnknownScene(ValueError):
    """A name that no scene of the domain has."""


class PdfUnavailable(RuntimeError):
    """CairoSVG or the cairo library is missing; the message says which and how to install it."""


def find_scene(base_id: str, seed: int) -> Scene:
    """The scene of that name, such as `flags/united-states-stars-add`.

    Raises `UnknownDomain`, or `UnknownScene` with the names that come nearest.
    """
    scenes = {
        s.base_id: s for s in load_domain(base_id.partition("/")[0]).draw_module.list_scenes(seed)
    }
    if base_id in scenes:
        return scenes[base_id]
    alike = find_similar(base_id, scenes, max_count=5) or list(scenes)[:5]
    raise UnknownScene(
        f"There is no scene {base_id!r} with seed {seed}. Did you mean: {', '.join(alike)}?"
    )


def draw_figure(scene: Scene, size: int, kind: Kind) -> bytes:
    """The scene as a vector file whose longer side is `size` px, at 96 px an inch in a PDF.

    Raises `SizeOutOfRange`, or `PdfUnavailable` where a PDF cannot be made.
    """
    topic = load_domain(scene.domain)
    topic.check_size(size)
    svg = topic.draw_module.draw(scene, size)
    return svg.encode() if kind == "svg" else _convert_to_pdf(svg)


def _convert_to_pdf(svg: str) -> bytes:
    try:
        import cairosvg  # noqa: PLC0415 - only a PDF needs it, and it is an extra
    except ImportError as error:
        raise PdfUnavailable(
            "A PDF needs the Python package CairoSVG: run pip install 'counterfactory[vector]', "
            "or take the SVG."
        ) from error
    except OSError as error:
        raise PdfUnavailable(
            "A PDF needs the cairo library of the system: install it (on Debian and Ubuntu "
            "apt install libcairo2, on macOS brew install cairo), or take the SVG."
        ) from error
    pdf: bytes = cairosvg.svg2pdf(bytestring=svg.encode())
    return pdf
