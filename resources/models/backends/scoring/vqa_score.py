"""VQAScore: how probable a vision-language model holds "Yes" to be, asked whether it is shown."""

from typing import Any

from resources.models.backends.base import PictureLoader
from resources.models.backends.chat_models import ChatModel
from resources.models.backends.scoring.base import FormulaSettings, require_finite
from resources.models.backends.scoring.prompted_formula import PromptedFormula
from resources.models.catalog import Model
from resources.models.replies import ModelReply, ModelUnavailable, Usage

QUESTION = 'Does this figure show "{text}"? Please answer yes or no.'
"""Question of VQAScore as published (Lin et al. 2024)."""
ANSWER = "Yes"


class VqaScore(PromptedFormula):
    """P("Yes"), 0 to 1: the first token of the answer, among all that the model knows."""

    prompt, max_answer_tokens = QUESTION, 1

    def __init__(
        self,
        model: Model,
        key: str | None,
        picture: PictureLoader,
        formula_settings: FormulaSettings,
    ) -> None:
        super().__init__(model, key, picture, formula_settings)
        self._yes = find_yes_token(self._speaking, model)

    def read_scores(self, output: tuple[Any, Any]) -> list[ModelReply]:
        """The scores of pictures, each against its text."""
        speaking, (inputs, generated) = self._speaking, output
        probable = generated.logits[0].float().softmax(-1)[:, self._yes].tolist()
        token = speaking.tokenizer.convert_ids_to_tokens(self._yes)
        how = self._describe_settings(len(probable), token=token)
        return [
            ModelReply(
                score=score,
                served_model=speaking.served_model,
                usage=Usage(int(mask.sum()), 1),
                provenance=how,
            )
            for score, mask in zip(
                require_finite(self._model, probable), inputs["attention_mask"], strict=True
            )
        ]


def find_yes_token(speaking: ChatModel, model: Model) -> int:
    """The token by which an answer of "Yes" begins, as the model's own chat template writes it.

    It differs between models whether a space before it is part of the token. Raises
    `ModelUnavailable` where an answer does not begin with it, or where it is several tokens.
    """
    token, *_ = speaking.tokenize_answer(ANSWER)
    decode = speaking.tokenizer.decode
    if decode([token]).strip() != ANSWER:
        raise ModelUnavailable(
            f"{model.model} does not begin an answer with one token for {ANSWER!r}, so that the "
            f"formula of {model.name} cannot be used with it: choose another model in models.yaml"
        )
    return token
