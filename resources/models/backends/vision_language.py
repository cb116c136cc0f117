"""Vision-language models of transformers: loaded, shown conversations, and made to answer."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from PIL import Image

from resources.models.backends.adapters import AdapterSettings, attach_adapter
from resources.models.backends.base import PictureLoader
from resources.models.backends.local_models import (
    ModelFiles,
    import_library,
    translate_loading_errors,
)
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable, Usage
from resources.models.requests import Turn

ChatMessage: TypeAlias = dict[str, Any]
"""A turn as chat templates take it."""

_OURS = frozenset({"return_dict_in_generate"})
_LONGEST_ANSWER = 1024


class VisionLanguageModel:
    """A vision-language model with its processor; raises `ModelUnavailable` without."""

    def __init__(self, model: Model, key: str | None, settings: AdapterSettings) -> None:
        self._model = model
        files = ModelFiles.resolve(model, key, settings.revision)
        self.served_model = files.served_model
        self.processor, self.network = _load(files, settings)
        if settings.adapter is not None:
            self.network = attach_adapter(self.network, model, settings.adapter, files.commit)
            self.served_model += f" with {Path(settings.adapter).name}"

    @property
    def image_processor_name(self) -> str:
        """The class that prepares pictures; its rounding depends on torchvision being here."""
        return type(self.processor.image_processor).__name__

    def tokenize_conversations(self, conversations: Sequence[Sequence[ChatMessage]]) -> Any:
        """Tokenize conversations that go on with an answer: padded on the left."""
        return self.processor.apply_chat_template(
            conversations,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True, "padding_side": "left"},
        )

    def tokenize_answer(self, answer: str) -> list[int]:
        """The tokens of an answer, as the chat template writes it, and then the one that ends it.

        What the template writes after that one is left out; where it writes none, as LLaVA-1.5's,
        it is added. Raises `ModelUnavailable` where an answer does not follow what it is asked by.
        """
        question: ChatMessage = {"role": "user", "content": [{"type": "text", "text": "?"}]}
        reply: ChatMessage = {
            "role": "assistant",
            "content": [{"type": "text", "text": answer.strip()}],
        }
        before = self._render([question], add_generation_prompt=True)
        after = self._render([question, reply], add_generation_prompt=False)
        text = after.removeprefix(before) if after.startswith(before) else ""
        # Where a token would reach over the beginning, after which a model says what it says, the
        # answer stands in a line of its own: to a text alone some tokenizers add a space before it.
        for lead in (before, "\n"):
            lead_tokens, tokens = self._tokens(lead), self._tokens(lead + text)
            if text and tokens[: len(lead_tokens)] == lead_tokens:
                return self._cut_answer(tokens[len(lead_tokens) :])
        raise ModelUnavailable(
            f"The chat template of {self._model.model} does not write an answer after what it "
            "is asked by, so that its tokens are unknown: choose another model in models.yaml"
        )

    def _cut_answer(self, tokens: list[int]) -> list[int]:
        """An answer's tokens up to the one that ends it, or else without spaces and then that."""
        tokenizer, model_end_tokens = (
            self.processor.tokenizer,
            self.network.generation_config.eos_token_id,
        )
        end_tokens = [
            tokenizer.eos_token_id,
            *(model_end_tokens if isinstance(model_end_tokens, list) else [model_end_tokens]),
        ]
        tokens = _cut_at_end(tokens, end_tokens)
        while tokens and not tokenizer.decode(tokens[-1:]).strip():
            tokens = tokens[:-1]
        return tokens if {*tokens[-1:]} & {*end_tokens} else [*tokens, tokenizer.eos_token_id]

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = self.processor.tokenizer(text, add_special_tokens=False)["input_ids"]
        return tokens

    def _render(self, turns: Sequence[ChatMessage], **how: Any) -> str:
        return str(self.processor.apply_chat_template(turns, tokenize=False, **how))

    def generate(self, inputs: Any, generation: Any) -> Any:
        """Generate from tokenized conversations: what the network gives, as `generation` says."""
        inputs = inputs.to(self.network.device, dtype=self.network.dtype)
        return self.network.generate(**inputs, generation_config=generation)

    def read_answers(self, inputs: Any, sequences: Any, generation: Any) -> list[tuple[str, Usage]]:
        """Read the answer to each conversation in generated tokens, with their numbers."""
        answers = []
        for mask, tokens in zip(inputs["attention_mask"], sequences, strict=True):
            answer = _cut_at_end(tokens[len(mask) :].tolist(), generation.eos_token_id)
            text = self.processor.decode(answer, skip_special_tokens=True).strip()
            answers.append((text, Usage(int(mask.sum()), len(answer))))
        return answers

    def build_generation_config(self, parameters: Mapping[str, Any]) -> Any:
        """Build the generation config: the model's own, changed as parameters say."""
        model_config = self.network.generation_config
        config = type(model_config).from_dict(model_config.to_dict())
        wrong = parameters.keys() - (config.to_dict().keys() - _OURS)
        if wrong:
            raise ModelUnavailable(
                f"transformers takes no {', '.join(sorted(wrong))} for {self._model.model}: "
                "correct its parameters in models.yaml"
            )
        try:
            config.update(**parameters)
        except (ValueError, TypeError) as error:
            raise ModelUnavailable(
                f"Correct the parameters of {self._model.name} in models.yaml: {error}"
            ) from error
        if config.max_new_tokens is None and config.max_length is None:
            config.max_new_tokens = _LONGEST_ANSWER
        return config


def build_message(turn: Turn, picture: PictureLoader) -> ChatMessage:
    """A turn with its pictures opened, which come before its text."""
    shown = [
        {"type": "image", "image": Image.open(io.BytesIO(picture(name))).convert("RGB")}
        for name in turn.images
    ]
    return {"role": turn.role, "content": [*shown, {"type": "text", "text": turn.text}]}


def _load(files: ModelFiles, settings: AdapterSettings) -> tuple[Any, Any]:
    """The processor and the network."""
    transformers = import_library("transformers")
    with translate_loading_errors(files.model, files.key):
        processor = files.load(transformers.AutoProcessor)
        network = files.load_network(transformers.AutoModelForImageTextToText, settings)
    if getattr(processor, "chat_template", None) is None:
        raise ModelUnavailable(
            f"{files.model.model} has no chat template, so that nothing "
            "can be asked of it: use a version of it that has one"
        )
    if processor.tokenizer.pad_token is None:
        # What pads the shorter ones of a batch is masked: any token will do.
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return processor, network


def _cut_at_end(tokens: list[int], end_tokens: int | list[int] | None) -> list[int]:
    """An answer's tokens up to the one that ends it: the others of its batch were longer."""
    ending = {end_tokens} if isinstance(end_tokens, int) else set(end_tokens or ())
    end = next((place for place, token in enumerate(tokens) if token in ending), len(tokens))
    return tokens[: end + 1]
