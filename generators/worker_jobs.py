"""Drawing and reading of one image, in worker processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from generators.canvas import decode_png, rasterise
from generators.domains import load_domain
from generators.reading import Legibility, Unreadable
from generators.scene import Scene


@dataclass(frozen=True, slots=True)
class DrawJob:
    """A scene of a topic, to be drawn with a longer side of `size` px."""

    topic: str
    scene: Scene
    size: int


def draw_png(drawing: DrawJob) -> bytes:
    """The PNG of one scene."""
    return rasterise(load_domain(drawing.topic).draw_module.draw(drawing.scene, drawing.size))


@dataclass(frozen=True, slots=True)
class ReadJob:
    """An image of a topic, the targets to read from it, and whether to measure its marks."""

    topic: str
    png: bytes
    targets: Sequence[str]
    is_legibility_read: bool


@dataclass(frozen=True, slots=True)
class ImageReadings:
    """The readings of one image, one per target in their order, or a problem and no reading.

    `pixels_sha256` is the hash of width, height and RGB values; `legibility` is None unless it
    was asked for and could be read.
    """

    pixels_sha256: str
    readings: Sequence[float]
    problem: str
    legibility: Legibility | None


def read_png(reading: ReadJob) -> ImageReadings:
    """Open one image and read every target from its pixels."""
    measuring, pixels = load_domain(reading.topic).measure_module, decode_png(reading.png)
    shape = f"{pixels.shape[1]}x{pixels.shape[0]}:".encode()
    digest = sha256(shape + pixels.tobytes()).hexdigest()
    try:
        readings = [float(value) for value in measuring.measure(pixels, reading.targets)]
        legibility = measuring.measure_legibility(pixels) if reading.is_legibility_read else None
    except Unreadable as error:
        return ImageReadings(pixels_sha256=digest, readings=[], problem=str(error), legibility=None)
    return ImageReadings(pixels_sha256=digest, readings=readings, problem="", legibility=legibility)
