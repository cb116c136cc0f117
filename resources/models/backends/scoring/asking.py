"""What the formulas share that ask a vision-language model about a picture."""

from collections.abc import Sequence
from typing import Any, ClassVar

from resources.models.backends.base import PictureOf
from resources.models.backends.scoring.base import Scoring, how_scored
from resources.models.backends.vision_language import Message, VisionLanguage, message
from resources.models.catalog import Model
from resources.models.requests import Score, Turn

_GREEDY = {"do_sample": False, "num_beams": 1, "temperature": None, "top_p": None, "top_k": None}


class Asking:
    """A formula that asks by a prompt with the text in it, and decodes the answer greedily."""

    prompt: ClassVar[str]
    longest: ClassVar[int]
    """Tokens of an answer, unless the entry says otherwise."""

    def __init__(self, model: Model, key: str | None, picture: PictureOf, wanted: Scoring) -> None:
        self._model, self._picture = model, picture
        self._speaking = VisionLanguage(model, key, wanted)
        told = {"max_new_tokens": self.longest} | wanted.others | _GREEDY
        self._generation = self._speaking.generation(told)

    def prepared(self, request: Score) -> list[Message]:
        """The conversation that ends before the answer."""
        prompt = self.prompt.format(text=request.text)
        return [message(Turn("user", prompt, (request.image,)), self._picture)]

    def _generated(self, asked: Sequence[list[Message]]) -> tuple[Any, Any]:
        """What the network was given of conversations, and what it made of that, with logits.

        The logits are as they come: what else a configuration does to them belongs to sampling.
        """
        self._generation.update(output_logits=True, return_dict_in_generate=True)
        inputs = self._speaking.inputs(asked)
        return inputs, self._speaking.network.generate(**inputs, generation_config=self._generation)

    def _how(self, batch: int, **more: Any) -> dict[str, Any]:
        speaking = self._speaking
        return how_scored(self._model, speaking.network, batch, pictures=speaking.preparing, **more)
