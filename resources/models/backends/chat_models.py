"""Models of transformers that converse, with or without pictures: loaded, and made to answer."""

import io
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from PIL import Image

from resources.models.backends.adapters import AdapterSettings, attach_adapter
from resources.models.backends.base import PictureLoader
from resources.models.backends.grammars import SchemaGrammars
from resources.models.backends.local_models import (
    ModelFiles,
    import_library,
    translate_loading_errors,
)
from resources.models.backends.plain_prompts import find_plain_template
from resources.models.backends.provenance import describe_chat_model
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable, UnacceptableRequest, Usage
from resources.models.requests import Turn

ChatMessage: TypeAlias = dict[str, Any]
"""A turn as chat templates take it."""

_OURS = frozenset({"return_dict_in_generate"})
_LONGEST_ANSWER = 1024
_THINKING = frozenset({"enable_thinking", "thinking"})
"""Variables by which chat templates turn thinking on and off: Qwen's and GLM's, and Kimi's."""
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>\s*\Z")
_OPENING_TOKENS = 12
"""Tokens at the end of a prompt in which a thought may be opened."""
_SMALLEST_EDGE = 8
"""Edge of a picture in px below which no vision encoder has a patch."""


class ChatModel:
    """A model with its processor, or its tokenizer where it reads text alone.

    Raises `ModelUnavailable` without either, and without a chat template.
    """

    def __init__(self, model: Model, key: str | None, settings: AdapterSettings) -> None:
        self._model = model
        files = ModelFiles.resolve(model, key, settings.revision)
        self.served_model = files.served_model
        self.processor, self.network = _load(files, settings)
        self.tokenizer = getattr(self.processor, "tokenizer", self.processor)
        self.conditions = describe_chat_model(self.processor, self.network) | files.describe()
        if settings.adapter is not None:
            self.network = attach_adapter(self.network, model, settings.adapter, files.commit)
            self.served_model += f" with {Path(settings.adapter).name}"

    @property
    def has_vision(self) -> bool:
        """Whether pictures can be shown to it."""
        return self.processor is not self.tokenizer

    @property
    def image_processor_name(self) -> str:
        """The class that prepares pictures; its rounding depends on torchvision being here."""
        return type(self.processor.image_processor).__name__ if self.has_vision else "none"

    @cached_property
    def thinking_variables(self) -> frozenset[str]:
        """The variables by which the chat template turns thinking on and off; often none."""
        template = self.processor.chat_template
        # Some checkpoints have several by name, of which a conversation without tools takes this.
        text = template.get("default") if isinstance(template, dict) else template
        templates = import_library("transformers.utils.chat_template_utils")
        names: frozenset[str] = templates._get_template_variables(text)
        return names & _THINKING

    def tokenize_conversations(
        self, conversations: Sequence[Sequence[ChatMessage]], *, thinking: bool | None = False
    ) -> Any:
        """Tokenize conversations that go on with an answer: padded on the left.

        The model is to think before it answers if `thinking`, or at None if its chat template says
        so, where that leaves the choice. Pictures are in the network's dtype.

        Raises `UnacceptableRequest` for a picture that is shown to a model without vision, and for
        a conversation that the chat template refuses or makes nothing of.
        """
        for conversation in conversations:
            self._require_prompt(conversation, thinking)
        padding = {"padding": True, "padding_side": "left"}
        inputs = self.processor.apply_chat_template(
            [*map(self._adapt, conversations)],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **({"processor_kwargs": padding} if self.has_vision else padding),
            **self._choose_thinking(thinking),
        )
        # PaliGemma's processor adds them, as for training.
        inputs.pop("labels", None)
        return inputs.to(dtype=self.network.dtype) if self.has_vision else inputs

    def _choose_thinking(self, thinking: bool | None) -> dict[str, bool]:
        return {} if thinking is None else dict.fromkeys(self.thinking_variables, thinking)

    def _require_prompt(self, conversation: Sequence[ChatMessage], thinking: bool | None) -> None:
        problem = "it writes nothing"
        try:
            prompt = self._render(conversation, thinking=thinking, add_generation_prompt=True)
        except UnacceptableRequest:
            raise
        except Exception as error:  # noqa: BLE001 - a template is a program, and raises anything
            prompt, problem = "", str(error)
        if not prompt:
            raise UnacceptableRequest(
                f"The chat template of {self._model.model} makes no prompt of this request: "
                f"{problem}. Correct its chat_template.jinja, or choose another model in "
                "models.yaml"
            )

    def _adapt(self, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        """Messages as the chat template takes them: of text alone, with a plain string each."""
        if self.has_vision:
            return messages
        if any(part["type"] != "text" for message in messages for part in message["content"]):
            raise UnacceptableRequest(
                f"{self._model.model} reads text alone, and cannot be shown a picture: use it as a "
                "writer, and a vision-language model as a judge"
            )
        return [
            {**message, "content": "\n".join(part["text"] for part in message["content"])}
            for message in messages
        ]

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
        tokenizer = self.tokenizer
        model_end_tokens = self.network.generation_config.eos_token_id
        end_tokens = [
            tokenizer.eos_token_id,
            *(model_end_tokens if isinstance(model_end_tokens, list) else [model_end_tokens]),
        ]
        tokens = _cut_at_end(tokens, end_tokens)
        while tokens and not tokenizer.decode(tokens[-1:]).strip():
            tokens = tokens[:-1]
        return tokens if {*tokens[-1:]} & {*end_tokens} else [*tokens, tokenizer.eos_token_id]

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return tokens

    def _render(
        self, turns: Sequence[ChatMessage], *, thinking: bool | None = False, **how: Any
    ) -> str:
        text = self.processor.apply_chat_template(
            self._adapt(turns), tokenize=False, **how, **self._choose_thinking(thinking)
        )
        return str(text)

    def generate(self, inputs: Any, generation: Any, schemas: Sequence[str | None] = ()) -> Any:
        """Generate from tokenized conversations: what the network gives, as `generation` says.

        Answers follow their JSON Schema, where there are `schemas`, one for each conversation.
        """
        inputs = inputs.to(self.network.device)
        how = {}
        if any(schemas):
            how["logits_processor"] = [self._grammars.build_processor(schemas)]
        return self.network.generate(**inputs, generation_config=generation, **how)

    @cached_property
    def _grammars(self) -> SchemaGrammars:
        size = self.network.get_output_embeddings().weight.shape[0]
        # Llama 3.2 Vision never says its last token, the one of a picture.
        return SchemaGrammars(self.tokenizer, max(size, len(self.tokenizer)))

    def read_answers(
        self, inputs: Any, sequences: Any, generation: Any, *, has_schema: bool = False
    ) -> list[tuple[str, Usage]]:
        """Read the answer to each conversation in generated tokens, with their numbers.

        One without a schema begins with the mark of a thought that its prompt opened, so that
        thinking can be told from the answer even where it was cut off.
        """
        answers = []
        for mask, tokens in zip(inputs["attention_mask"], sequences, strict=True):
            answer = _cut_at_end(tokens[len(mask) :].tolist(), generation.eos_token_id)
            text = self.tokenizer.decode(answer, skip_special_tokens=True).strip()
            if not has_schema:
                text = self._find_open_thought(tokens[: len(mask)]) + text
            answers.append((text, Usage(int(mask.sum()), len(answer))))
        return answers

    def _find_open_thought(self, prompt_tokens: Any) -> str:
        """The mark of a thought that a prompt ends with, as `<think>`; empty without one."""
        ending = self.tokenizer.decode(prompt_tokens[-_OPENING_TOKENS:].tolist())
        mark = _OPEN_THOUGHT.search(ending)
        return mark[0] if mark else ""

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
    """The processor, or the tokenizer of a model that reads text alone, and the network."""
    transformers = import_library("transformers")
    seeing = transformers.AutoModelForImageTextToText
    with translate_loading_errors(files.model, files.key):
        has_vision = type(files.load(transformers.AutoConfig)) in seeing._model_mapping
        kinds = (
            (transformers.AutoProcessor, seeing)
            if has_vision
            else (transformers.AutoTokenizer, transformers.AutoModelForCausalLM)
        )
        processor = files.load(kinds[0])
        network = files.load_network(kinds[1], settings)
    if getattr(processor, "chat_template", None) is None:
        processor.chat_template = find_plain_template(network.config.model_type)
    if processor.chat_template is None:
        raise ModelUnavailable(
            f"{files.model.model} has no chat template, so that nothing "
            "can be asked of it: use a version of it that has one"
        )
    if has_vision:
        _require_pixels(files.model, getattr(processor, "image_processor", None))
    tokenizer = getattr(processor, "tokenizer", processor)
    if tokenizer.pad_token is None:
        # What pads the shorter ones of a batch is masked: any token will do.
        tokenizer.pad_token = tokenizer.eos_token
    return processor, network


def _require_pixels(model: Model, image_processor: Any) -> None:
    """Raise `ModelUnavailable` where pictures are made too small to show anything."""
    for name in ("size", "crop_size"):
        size = getattr(image_processor, name, None)
        edges = {} if size is None or isinstance(size, int | list | tuple) else dict(size)
        smallest = min((edge for edge in edges.values() if edge), default=_SMALLEST_EDGE)
        if smallest < _SMALLEST_EDGE:
            raise ModelUnavailable(
                f"The image processor of {model.model} makes pictures {smallest} px small: correct "
                f"`{name}` in its processor_config.json or preprocessor_config.json"
            )


def _cut_at_end(tokens: list[int], end_tokens: int | list[int] | None) -> list[int]:
    """An answer's tokens up to the one that ends it: the others of its batch were longer."""
    ending = {end_tokens} if isinstance(end_tokens, int) else set(end_tokens or ())
    end = next((place for place, token in enumerate(tokens) if token in ending), len(tokens))
    return tokens[: end + 1]
