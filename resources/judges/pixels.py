"""A judge that looks: it answers from what `measure` reads in the image it is shown."""

from collections.abc import Mapping
from hashlib import sha256

from generators.canvas import pixels_of
from generators.domains import domains
from generators.reading import Unreadable

Readings = Mapping[tuple[str, str], float]
"""What was read before: (sha256 of the image, target) to the reading."""


class PixelsJudge:
    """Understands the prompt's words, measures the image, and answers what it read.

    `readings` spares measuring again what was measured in the very same bytes.
    """

    def __init__(self, readings: Readings | None = None) -> None:
        self._readings = readings or {}

    def answer(self, prompt: str, image: bytes) -> str:
        """The answer in curly brackets, or a sentence that says why there is none."""
        for domain in domains().values():
            inquiry = domain.asking.understand(prompt)
            if inquiry is None:
                continue
            digest = sha256(image).hexdigest()
            known = [self._readings.get((digest, target)) for target in inquiry.targets]
            readings = [reading for reading in known if reading is not None]
            if len(readings) < len(known):
                try:
                    readings = list(domain.measuring.measure(pixels_of(image), inquiry.targets))
                except Unreadable as why:
                    return f"I cannot read that in this image: {why}"
            return f"{{{inquiry.answer(readings)}}}"
        return "I do not understand this question."
