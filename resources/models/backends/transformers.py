"""Local judges, captioners, writers and metrics: models of transformers."""

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from typing import Any

from resources.models.backends.adapters import AdapterSettings
from resources.models.backends.detection import Detector
from resources.models.backends.local_models import (
    LocalBackend,
    import_library,
    parse_settings,
    record_time,
    translate_running_errors,
)
from resources.models.backends.scoring import ScoringFormula, load_formula
from resources.models.backends.vision_language import VisionLanguageModel, build_message
from resources.models.replies import ModelReply, ModelUnavailable
from resources.models.requests import LookRequest, ScoreRequest, WriteRequest

_GLOBAL_RANDOMNESS = threading.Lock()


class Transformers(LocalBackend):
    """A vision-language model with its processor and chat template, held for the whole run.

    `model` is a folder or an id of the Hugging Face Hub. The parameters are those of generation,
    by transformers' names, and `batch`, `device`, `dtype`, `revision` and `adapter`; what they
    leave open is as the model's own generation_config says, and an answer is at most 1,024 tokens
    long where neither says. The dtype is that of the checkpoint.

    Where tokens are sampled (`do_sample`), requests are worked on one at a time, each with a seed
    that is a hash of the request and its sample index: asked again, it is answered the same, and
    no two requests share their luck.

    A metric is whatever its `formula` asks for (see `scoring`) in place of that. Pictures for the
    next batch are opened while the model works on the one before.
    """

    _loaded = ("_speaking", "_generation", "_metric", "_detector")

    async def look(self, request: LookRequest) -> ModelReply:
        """Answer in text what is asked of pictures; a detector answers with boxes, as JSON."""
        if "detector" in self._model.roles:
            return await self._batcher.ask(self._detect, request, at_once=self._settings.batch)
        return await self._ask(request)

    async def write(self, request: WriteRequest) -> ModelReply:
        """Write text; raises `ModelUnavailable` for a schema, which nothing here enforces."""
        if request.schema is not None:
            raise ModelUnavailable(
                f"{self._model.name} cannot be held to a JSON Schema by the backend transformers: "
                "serve it with vLLM or SGLang and use the backend openai_compatible"
            )
        return await self._ask(request)

    async def score(self, request: ScoreRequest) -> ModelReply:
        """Score a picture against a text; raises `UnacceptableRequest` for too long a text."""
        if "_metric" not in self.__dict__:
            await self._batcher.ask(self._load, request, at_once=self._model.concurrency)
        prepared = await asyncio.to_thread(self._metric.prepare, request)
        return await self._batcher.ask(self._score, prepared, at_once=self._settings.batch)

    async def _ask(self, request: LookRequest | WriteRequest) -> ModelReply:
        shown = sum(len(turn.images) for turn in request.turns)
        return await self._batcher.ask(
            self._answer, request, at_once=self._settings.batch, alike=shown
        )

    @record_time
    def _answer(self, requests: list[LookRequest | WriteRequest]) -> list[ModelReply]:
        if not self._generation.do_sample:
            return self._generate(requests)
        replies = []
        for request in requests:
            with _seed(compute_sampling_seed(request)):
                replies += self._generate([request])
        return replies

    def _generate(self, requests: Sequence[LookRequest | WriteRequest]) -> list[ModelReply]:
        speaking, generation = self._speaking, self._generation
        with translate_running_errors(self._model):
            answers = speaking.generate_answers(
                [
                    [build_message(turn, self._picture) for turn in request.turns]
                    for request in requests
                ],
                generation,
            )
        return [
            ModelReply(text=text, served_model=speaking.served_model, usage=usage)
            for text, usage in answers
        ]

    def _load(self, requests: list[ScoreRequest]) -> list[ScoringFormula]:
        return [self._metric] * len(requests)

    @record_time
    def _score(self, prepared: list[Any]) -> list[ModelReply]:
        with translate_running_errors(self._model):
            return self._metric.score_batch(prepared)

    @record_time
    def _detect(self, requests: list[LookRequest]) -> list[ModelReply]:
        return self._detector.detect(requests)

    @cached_property
    def _settings(self) -> AdapterSettings:
        return parse_settings(self._model, AdapterSettings)

    @cached_property
    def _detector(self) -> Detector:
        return Detector(self._model, self._key, self._picture)

    @cached_property
    def _speaking(self) -> VisionLanguageModel:
        return VisionLanguageModel(self._model, self._key, self._settings)

    @cached_property
    def _generation(self) -> Any:
        return self._speaking.build_generation_config(self._settings.model_parameters)

    @cached_property
    def _metric(self) -> ScoringFormula:
        return load_formula(self._model, self._key, self._picture)


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
