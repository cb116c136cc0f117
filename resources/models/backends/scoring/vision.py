"""A vision-language model that is asked for a number: how well a picture fits a text."""

import re
from collections.abc import Sequence

from resources.models.backends.base import PictureOf
from resources.models.backends.scoring.base import Scoring, how_scored
from resources.models.backends.scoring.vqa import GREEDY
from resources.models.backends.vision_language import Message, VisionLanguage, message
from resources.models.catalog import Model
from resources.models.replies import Reply
from resources.models.requests import Score, Turn

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
LONGEST_ANSWER = 32
"""Tokens, unless the entry says otherwise."""

_NUMBER = re.compile(r"(?<![\w.,])-?(?:\d+(?:[.,]\d+)?|\.\d+)(?:e-?\d+)?%?(?![\w%])", re.IGNORECASE)


class VisionScore:
    """The number from 0 to 1 that a vision-language model says, decoded greedily.

    A reply always has the text; it has no score where that is not one such number.
    """

    def __init__(self, model: Model, key: str | None, picture: PictureOf, wanted: Scoring) -> None:
        self._model, self._picture = model, picture
        self._speaking = VisionLanguage(model, key, wanted)
        told = {"max_new_tokens": LONGEST_ANSWER} | wanted.others | GREEDY
        self._generation = self._speaking.generation(told)

    def prepared(self, request: Score) -> list[Message]:
        """The conversation that ends before the answer."""
        prompt = PROMPT.format(text=request.text)
        return [message(Turn("user", prompt, (request.image,)), self._picture)]

    def replies(self, asked: Sequence[list[Message]]) -> list[Reply]:
        """What is said of pictures, each with its text, and the numbers in it."""
        answers = self._speaking.answers(asked, self._generation)
        network, pictures = self._speaking.network, self._speaking.preparing
        how = how_scored(self._model, network, len(asked), pictures=pictures)
        return [
            Reply(
                text=text,
                score=number_in(text),
                served_model=self._speaking.served,
                usage=usage,
                made=how,
            )
            for text, usage in answers
        ]


def number_in(text: str) -> float | None:
    """The number from 0 to 1 in an answer; None where it has none, or any other beside it."""
    numbers = _NUMBER.findall(text)
    try:
        (number,) = {float(number.replace(",", ".")) for number in numbers}
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None
