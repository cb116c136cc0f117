"""Local judges, captioners, writers and metrics: models of transformers."""

import asyncio
import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from resources.models.backends.adapters import AdapterSettings
from resources.models.backends.chat_models import (
    ChatMessage,
    ChatModel,
    build_message,
)
from resources.models.backends.detection import Detector
from resources.models.backends.dynamic_batching import BatchStages
from resources.models.backends.local_models import (
    LocalBackend,
    TimedOutput,
    import_library,
    parse_settings,
    record_time,
    translate_running_errors,
)
from resources.models.backends.scoring import ScoringFormula, load_formula
from resources.models.replies import ModelReply, ModelUnavailable
from resources.models.requests import LookRequest, ScoreRequest, WriteRequest

_GLOBAL_RANDOMNESS = threading.Lock()
_PIXELS_PER_CHARACTER = 200
"""Pixels of a picture that take about as many tokens as a character of text."""


class ChatSettings(AdapterSettings):
    """Settings of a judge or a writer.

    `thinking` is whether it thinks before it answers, where its chat template leaves the choice.
    """

    thinking: bool | None = None


class _OpenedRequest(NamedTuple):
    """A request with its pictures opened."""

    request: LookRequest | WriteRequest
    messages: list[ChatMessage]

    @property
    def length(self) -> int:
        """How long it is beside others, before anything is tokenized: characters and pictures."""
        parts = [part for message in self.messages for part in message["content"]]
        pixels: int = sum(math.prod(part["image"].size) for part in parts if "image" in part)
        return pixels // _PIXELS_PER_CHARACTER + sum(len(part.get("text", "")) for part in parts)


class _Group(NamedTuple):
    """Requests that are generated together: the seed of their tokens, and the model's inputs."""

    seed: int | None
    inputs: Any
    schemas: list[str | None]


class Transformers(LocalBackend):
    """A language model, with vision or without, and its chat template, held for the whole run.

    `model` is a folder or an id of the Hugging Face Hub. The parameters are those of generation,
    by transformers' names, and `batch`, `device`, `dtype`, `revision` and `adapter`; what they
    leave open is as the model's own generation_config says, and an answer is at most 1,024 tokens
    long where neither says. The dtype is that of the checkpoint. With `thinking`, a model thinks
    before it answers, or does not; by default as its chat template says.

    Where tokens are sampled (`do_sample`), requests are worked on one at a time, each with a seed
    that is a hash of the request and its sample index: asked again, it is answered the same, and
    no two requests share their luck.

    A metric is whatever its `formula` asks for (see `scoring`) in place of that. While the model
    works on a batch, the next one is opened and tokenized, and the one before it decoded; requests
    that are about as long share a batch.
    """

    _loaded = ("_speaking", "_generation", "_metric", "_detector")

    async def look(self, request: LookRequest) -> ModelReply:
        """Answer in text what is asked of pictures; a detector answers with boxes, as JSON."""
        if "detector" in self._model.roles:
            await self._ensure_loaded("_detector")
            detecting = BatchStages(self._detector.prepare, self._detect, self._read_boxes)
            return await self._ask_in_batches(detecting, request)
        return await self._ask(request)

    async def write(self, request: WriteRequest) -> ModelReply:
        """Write text, which follows the request's JSON Schema, where there is one."""
        return await self._ask(request)

    async def score(self, request: ScoreRequest) -> ModelReply:
        """Score a picture against a text; raises `UnacceptableRequest` for too long a text."""
        await self._ensure_loaded("_metric")
        prepared = await asyncio.to_thread(self._metric.prepare, request)
        return await self._ask_in_batches(
            BatchStages(self._collate, self._score, self._read_scores),
            prepared,
            length=len(request.text),
        )

    async def _ask(self, request: LookRequest | WriteRequest) -> ModelReply:
        await self._ensure_loaded("_generation")
        opened = await asyncio.to_thread(self._open, request)
        return await self._ask_in_batches(
            BatchStages(self._tokenize, self._generate, self._read_answers),
            opened,
            alike=(sum(len(turn.images) for turn in request.turns), _has_schema(request)),
            length=opened.length,
        )

    def _open(self, request: LookRequest | WriteRequest) -> _OpenedRequest:
        messages = [build_message(turn, self._picture) for turn in request.turns]
        return _OpenedRequest(request, messages)

    def _tokenize(self, opened_requests: list[_OpenedRequest]) -> list[_Group]:
        """Tokenize requests together, or where tokens are sampled each by itself."""
        sampled = self._generation.do_sample
        groups = [[opened] for opened in opened_requests] if sampled else [opened_requests]
        with translate_running_errors(self._model):
            return [
                _Group(
                    compute_sampling_seed(group[0].request) if sampled else None,
                    self._speaking.tokenize_conversations(
                        [opened.messages for opened in group],
                        # A thought is no JSON.
                        thinking=not _has_schema(group[0].request) and self._settings.thinking,
                    ),
                    [getattr(opened.request, "schema", None) for opened in group],
                )
                for group in groups
            ]

    @record_time
    def _generate(self, groups: list[_Group]) -> list[tuple[_Group, Any]]:
        with translate_running_errors(self._model):
            return [(group, self._generate_group(group)) for group in groups]

    def _generate_group(self, group: _Group) -> Any:
        seed = nullcontext() if group.seed is None else _seed(group.seed)
        with seed:
            return self._speaking.generate(group.inputs, self._generation, group.schemas)

    def _read_answers(self, generated: TimedOutput) -> list[ModelReply]:
        speaking, generation = self._speaking, self._generation
        return generated.share(
            [
                ModelReply(
                    text=text,
                    served_model=speaking.served_model,
                    usage=usage,
                    provenance=speaking.conditions,
                )
                for group, sequences in generated.output
                for text, usage in speaking.read_answers(
                    group.inputs, sequences, generation, has_schema=any(group.schemas)
                )
            ]
        )

    def _collate(self, prepared_requests: list[Any]) -> Any:
        with translate_running_errors(self._model):
            return self._metric.collate(prepared_requests)

    @record_time
    def _score(self, inputs: Any) -> Any:
        with translate_running_errors(self._model):
            return self._metric.compute(inputs)

    def _read_scores(self, computed: TimedOutput) -> list[ModelReply]:
        return computed.share(self._metric.read_scores(computed.output))

    @record_time
    def _detect(self, prepared_turns: list[Any]) -> list[Any]:
        return self._detector.compute(prepared_turns)

    def _read_boxes(self, computed: TimedOutput) -> list[ModelReply]:
        return computed.share(self._detector.read_boxes(computed.output))

    @cached_property
    def _settings(self) -> ChatSettings:
        return parse_settings(self._model, ChatSettings)

    @cached_property
    def _detector(self) -> Detector:
        return Detector(self._model, self._key, self._picture)

    @cached_property
    def _speaking(self) -> ChatModel:
        speaking = ChatModel(self._model, self._key, self._settings)
        if self._settings.thinking is not None and not speaking.thinking_variables:
            raise ModelUnavailable(
                f"The chat template of {self._model.model} turns thinking neither on nor off: take "
                f"`thinking` from the parameters of {self._model.name} in models.yaml"
            )
        return speaking

    @cached_property
    def _generation(self) -> Any:
        return self._speaking.build_generation_config(self._settings.model_parameters)

    @cached_property
    def _metric(self) -> ScoringFormula:
        return load_formula(self._model, self._key, self._picture)


def _has_schema(request: LookRequest | WriteRequest) -> bool:
    return getattr(request, "schema", None) is not None


def compute_sampling_seed(request: LookRequest | WriteRequest) -> int:
    """The seed of a request's answer where tokens are sampled: 32 bits of its hash."""
    words = json.dumps(asdict(request), sort_keys=True)
    return int.from_bytes(sha256(words.encode()).digest()[:4], "big")


@contextmanager
def _seed(seed: int) -> Iterator[None]:
    """Seed torch's randomness, which the whole process shares, and keep it to ourselves."""
    torch = import_library("torch")
    with _GLOBAL_RANDOMNESS, torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
