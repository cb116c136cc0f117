"""A vision-language model that is asked for a number: how well a picture fits a text."""

import re
from typing import Any

from resources.models.backends.scoring.prompted_formula import PromptedFormula
from resources.models.replies import ModelReply

PROMPT = """You judge strictly how well a picture fits a text.

Text: {text}

Count only what the text says: the main thing, the other thing beside it, and their traits \
(number, colour, size, position; left and right are the viewer's). Style, beauty, lighting and \
realism do not count, and nothing is to be gained by what is usual or typical.

1.00: all that the text says is in the picture.
0.67: the main thing is right, and one detail is unclear.
0.33: the main thing is right, and the other thing or one of the traits is wrong.
0.00: the main thing is wrong, or several others are.

Numbers between these are allowed. Answer with one number from 0 to 1, and nothing else."""
"""Ours: as strict as the prompt for judges in Table 6 of ProtoBias, on the scale of ProtoScore."""

_NUMBER = re.compile(r"(?<![\w.,])-?(?:\d+(?:[.,]\d+)?|\.\d+)(?:e-?\d+)?%?(?![\w%])", re.IGNORECASE)


class VisionScore(PromptedFormula):
    """The number from 0 to 1 that a vision-language model says, decoded greedily.

    A reply always has the text; it has no score where that is not one such number.
    """

    prompt, max_answer_tokens = PROMPT, 32

    def compute(self, inputs: Any) -> tuple[Any, Any]:
        """Generate answers about pictures, each with its text; gives inputs and tokens."""
        return inputs, self._speaking.generate(inputs, self._generation)

    def read_scores(self, output: tuple[Any, Any]) -> list[ModelReply]:
        """Read the numbers in answers."""
        answers = self._speaking.read_answers(*output, self._generation)
        how = self._describe_settings(len(answers))
        return [
            ModelReply(
                text=text,
                score=parse_number(text),
                served_model=self._speaking.served_model,
                usage=usage,
                provenance=how,
            )
            for text, usage in answers
        ]


def parse_number(text: str) -> float | None:
    """The number from 0 to 1 in an answer; None where it has none, or any other beside it."""
    numbers = _NUMBER.findall(text)
    try:
        (number,) = {float(number.replace(",", ".")) for number in numbers}
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None
