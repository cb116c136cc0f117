"""The base of formulas that prompt a vision-language model about a picture."""

from collections.abc import Sequence
from typing import Any, ClassVar

from resources.models.backends.base import PictureLoader
from resources.models.backends.chat_models import (
    ChatMessage,
    ChatModel,
    build_message,
)
from resources.models.backends.scoring.base import FormulaSettings, build_score_provenance
from resources.models.catalog import Model
from resources.models.requests import ScoreRequest, Turn

_CONDITIONS = ("attention", "chat_template", "pixel_limits", "commit", "weights")
_GREEDY = {"do_sample": False, "num_beams": 1, "temperature": None, "top_p": None, "top_k": None}


class PromptedFormula:
    """A formula that asks by a prompt with the text in it, and decodes the answer greedily."""

    prompt: ClassVar[str]
    max_answer_tokens: ClassVar[int]
    """Tokens of an answer, unless the entry says otherwise."""

    def __init__(
        self,
        model: Model,
        key: str | None,
        picture: PictureLoader,
        formula_settings: FormulaSettings,
    ) -> None:
        self._model, self._picture = model, picture
        self._speaking = ChatModel(model, key, formula_settings)
        parameters = (
            {"max_new_tokens": self.max_answer_tokens} | formula_settings.model_parameters | _GREEDY
        )
        self._generation = self._speaking.build_generation_config(parameters)

    def prepare(self, request: ScoreRequest) -> list[ChatMessage]:
        """The conversation that ends before the answer."""
        prompt = self.prompt.format(text=request.text)
        return [build_message(Turn("user", prompt, (request.image,)), self._picture)]

    def collate(self, conversations: Sequence[list[ChatMessage]]) -> Any:
        """The tokens and pictures of conversations."""
        return self._speaking.tokenize_conversations(conversations)

    def compute(self, inputs: Any) -> tuple[Any, Any]:
        """Run the network on conversations; gives its inputs and its output, with logits.

        The logits are as they come: what else a configuration does to them belongs to sampling.
        """
        self._generation.update(output_logits=True, return_dict_in_generate=True)
        return inputs, self._speaking.generate(inputs, self._generation)

    def _describe_settings(self, batch: int, **more: Any) -> dict[str, Any]:
        speaking = self._speaking
        conditions = {
            name: speaking.conditions[name] for name in _CONDITIONS if name in speaking.conditions
        }
        return build_score_provenance(
            self._model,
            speaking.network,
            batch,
            pictures=speaking.image_processor_name,
            **conditions,
            **more,
        )
