"""Drawing of one control, and reading of a figure or control, in worker processes."""

from dataclasses import dataclass

from generators.canvas import decode_png, rasterise
from generators.domains.optical_illusions.control_readings import measure_control
from generators.domains.optical_illusions.controls import draw_control
from generators.domains.optical_illusions.measure import measure
from generators.reading import Unreadable
from generators.worker_jobs import DrawJob


def draw_control_png(drawing: DrawJob) -> bytes:
    """The PNG of a scene's control."""
    return rasterise(draw_control(drawing.scene, drawing.size))


@dataclass(frozen=True, slots=True)
class DifferenceJob:
    """A figure's or control's PNG, and the target to read from it."""

    png: bytes
    target: str
    is_control: bool


def read_difference(reading: DifferenceJob) -> tuple[float | None, str]:
    """The difference that a picture shows, or a problem and no reading."""
    pixels = decode_png(reading.png)
    try:
        if reading.is_control:
            return measure_control(pixels, reading.target), ""
        return measure(pixels, [reading.target])[0], ""
    except Unreadable as problem:
        return None, str(problem)
