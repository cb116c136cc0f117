"""The two interfaces of a judge."""

from typing import Protocol


class Judge(Protocol):
    """Answers a prompt about an image."""

    def answer(self, prompt: str, image: bytes) -> str:
        """The response to `prompt` about the PNG or JPEG file `image`."""


class InformedJudge(Protocol):
    """A reference judge that is told what a biased answer would be."""

    def answer_informed(self, prompt: str, image: bytes, expected_bias: str) -> str:
        """The response of one that knows the expected bias."""
