"""The stand-in judges, which bracket real ones.

A judge gets a prompt and an image's bytes, and nothing else. A judge that needs more answers by
another method, `answer_informed`, so that a real one is never informed by mistake.
"""

from collections.abc import Mapping
from hashlib import sha256
from random import Random
from typing import ClassVar, NamedTuple

from generators.canvas import decode_png
from generators.domains import load_domains
from generators.reading import Unreadable

Readings = Mapping[tuple[str, str], float]
"""Known readings: (sha256 of the image, target) to the reading."""


class PixelsJudge:
    """Understands the prompt's words, measures the image, and answers what it read.

    `readings` spares measuring again what was measured in the very same bytes.
    """

    def __init__(self, readings: Readings | None = None) -> None:
        self._readings = readings or {}

    def answer(self, prompt: str, image: bytes) -> str:
        """The answer in curly brackets, or a sentence that says why there is none."""
        for domain in load_domains().values():
            inquiry = domain.ask_module.parse_question(prompt)
            if inquiry is None:
                continue
            digest = sha256(image).hexdigest()
            stored_readings = [self._readings.get((digest, target)) for target in inquiry.targets]
            readings = [reading for reading in stored_readings if reading is not None]
            if len(readings) < len(stored_readings):
                try:
                    readings = list(
                        domain.measure_module.measure(decode_png(image), inquiry.targets)
                    )
                except Unreadable as problem:
                    return f"I cannot read that in this image: {problem}"
            return f"{{{inquiry.answer(readings)}}}"
        return "I do not understand this question."


class PriorJudge:
    """Gives the expected bias, as a judge that answers from memory alone."""

    def answer_informed(self, prompt: str, image: bytes, expected_bias: str) -> str:
        """The expected bias, in curly brackets."""
        return f"{{{expected_bias}}}"


class RandomJudge:
    """Guesses by seed and question: Yes or No by a coin, a count uniform over bias - 2 ... + 2."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def answer_informed(self, prompt: str, image: bytes, expected_bias: str) -> str:
        """A guess that the same seed, prompt and image give again."""
        chance = Random(f"{self._seed}/{sha256(image).hexdigest()}/{prompt}")
        if expected_bias in ("Yes", "No"):
            return f"{{{chance.choice(('Yes', 'No'))}}}"
        return f"{{{int(expected_bias) + chance.randint(-2, 2)}}}"


class Effort(NamedTuple):
    """What a stand-in's effort brings: tokens of thinking, and the rate of right answers."""

    thinking_tokens: int
    right_rate: float


class PensiveJudge:
    """Thinks as `effort` says: right at a stated rate, which rises and then falls, else biased.

    A question that is answered right at one effort is so at each one of a higher rate.
    """

    EFFORTS: ClassVar[Mapping[str, Effort]] = {
        "low": Effort(100, 0.3),
        "medium": Effort(1_000, 0.8),
        "high": Effort(8_000, 0.5),
    }
    REPLY_TOKENS: ClassVar[int] = 10

    def __init__(self, effort: str | None) -> None:
        self._effort = self.EFFORTS.get(effort or "")

    def answer_informed(self, prompt: str, image: bytes, expected_bias: str, truth: str) -> str:
        """The truth or the expected bias in curly brackets; a sentence for an unknown effort."""
        if self._effort is None:
            return f"I know no such effort: only {', '.join(self.EFFORTS)}."
        chance = Random(f"{sha256(image).hexdigest()}/{prompt}").random()
        return f"{{{truth if chance < self._effort.right_rate else expected_bias}}}"

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens of an answer and those of its thinking; None for an unknown effort."""
        if self._effort is None:
            return None
        thinking_tokens = self._effort.thinking_tokens
        return thinking_tokens + self.REPLY_TOKENS, thinking_tokens
