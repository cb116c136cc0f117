"""Judges that do not look: one knows what is usual, one guesses."""

from hashlib import sha256
from random import Random


class PriorJudge:
    """Gives the expected bias: what a judge would score that answers from memory alone."""

    def answer_informed(self, prompt: str, image: bytes, expected_bias: str) -> str:
        """The expected bias, in curly brackets."""
        return f"{{{expected_bias}}}"


class RandomJudge:
    """Guesses by seed and question: Yes or No by a coin, a count uniform over bias - 2 ... + 2.

    It is told the expected bias only to know around what to guess.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def answer_informed(self, prompt: str, image: bytes, expected_bias: str) -> str:
        """A guess that the same seed, prompt and image give again."""
        chance = Random(f"{self._seed}/{sha256(image).hexdigest()}/{prompt}")
        if expected_bias in ("Yes", "No"):
            return f"{{{chance.choice(('Yes', 'No'))}}}"
        return f"{{{int(expected_bias) + chance.randint(-2, 2)}}}"
