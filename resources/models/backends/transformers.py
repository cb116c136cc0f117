"""Judges, captioners and writers that run here: vision-language models of transformers."""

import io
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from typing import Any

from PIL import Image

from resources.models.backends.base import PictureOf
from resources.models.backends.batching import Batcher
from resources.models.backends.local import (
    Settings,
    commit,
    device,
    library,
    loading,
    running,
    served,
    settings,
    timed,
)
from resources.models.catalog import Model
from resources.models.replies import Closed, Reply, Usage
from resources.models.requests import Look, Turn, Write

_OURS = frozenset({"return_dict_in_generate"})
_LONGEST_ANSWER = 1024
_GLOBAL_RANDOMNESS = threading.Lock()


class Transformers:
    """A vision-language model with its processor and chat template, held for the whole run.

    `model` is a folder or an id of the Hugging Face Hub. The parameters are those of generation,
    by transformers' names, and `batch`, `device`, `dtype` and `revision`; what they leave open is
    as the model's own generation_config says, and an answer is at most 1,024 tokens long where
    neither says. The dtype is that of the checkpoint.

    Where tokens are sampled (`do_sample`), requests are worked on one at a time, each with a seed
    that is a hash of the request and its sample index: asked again, it is answered the same, and
    no two requests share their luck.
    """

    def __init__(self, model: Model, key: str | None, picture: PictureOf) -> None:
        self._model, self._key, self._picture = model, key, picture
        self._batcher = Batcher()

    async def aclose(self) -> None:
        """Let go of the model."""
        await self._batcher.aclose()
        for loaded in ("_loaded", "_generation", "_commit"):
            self.__dict__.pop(loaded, None)

    async def look(self, request: Look) -> Reply:
        """Answer in text what is asked of pictures."""
        return await self._ask(request)

    async def write(self, request: Write) -> Reply:
        """Write text; raises `Closed` for a schema, which nothing here could hold it to."""
        if request.schema is not None:
            raise Closed(
                f"{self._model.name} cannot be held to a JSON Schema by the backend transformers: "
                "serve it with vLLM or SGLang and use the backend openai_compatible"
            )
        return await self._ask(request)

    async def _ask(self, request: Look | Write) -> Reply:
        shown = sum(len(turn.images) for turn in request.turns)
        return await self._batcher.ask(
            self._answer, request, at_once=self._settings.batch, alike=shown
        )

    @timed
    def _answer(self, requests: list[Look | Write]) -> list[Reply]:
        if not self._generation.do_sample:
            return self._generate(requests)
        replies = []
        for request in requests:
            with _seeded(sampling_seed(request)):
                replies += self._generate([request])
        return replies

    def _generate(self, requests: Sequence[Look | Write]) -> list[Reply]:
        processor, model = self._loaded
        with running(self._model):
            inputs = processor.apply_chat_template(
                [[self._message(turn) for turn in request.turns] for request in requests],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs={"padding": True, "padding_side": "left"},
            ).to(model.device, dtype=model.dtype)
            made = model.generate(**inputs, generation_config=self._generation)
        said = served(self._model, self._commit)
        replies = []
        for mask, tokens in zip(inputs["attention_mask"], made, strict=True):
            answer = self._until_the_end(tokens[len(mask) :].tolist())
            text = processor.decode(answer, skip_special_tokens=True).strip()
            usage = Usage(int(mask.sum()), len(answer))
            replies.append(Reply(text=text, served_model=said, usage=usage))
        return replies

    def _message(self, turn: Turn) -> dict[str, Any]:
        shown = [
            {"type": "image", "image": Image.open(io.BytesIO(self._picture(name))).convert("RGB")}
            for name in turn.images
        ]
        return {"role": turn.role, "content": [*shown, {"type": "text", "text": turn.text}]}

    def _until_the_end(self, tokens: list[int]) -> list[int]:
        """An answer's tokens up to the one that ends it: the others of its batch were longer."""
        ends = self._generation.eos_token_id
        ends = {ends} if isinstance(ends, int) else set(ends or ())
        end = next((place for place, token in enumerate(tokens) if token in ends), len(tokens))
        return tokens[: end + 1]

    @cached_property
    def _settings(self) -> Settings:
        return settings(self._model)

    @cached_property
    def _commit(self) -> str | None:
        return commit(self._model, self._key, self._settings.revision)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The processor and the model."""
        transformers, where = library("transformers"), device(self._settings)
        wanted = {"revision": self._commit, "token": self._key, "trust_remote_code": False}
        with loading(self._model, self._key):
            processor = transformers.AutoProcessor.from_pretrained(self._model.model, **wanted)
            model = transformers.AutoModelForImageTextToText.from_pretrained(
                self._model.model,
                dtype=self._settings.dtype or "auto",
                use_safetensors=True,
                **wanted,
            ).to(where)
        if getattr(processor, "chat_template", None) is None:
            raise Closed(
                f"{self._model.model} has no chat template, so that nothing "
                "can be asked of it: use a version of it that has one"
            )
        if processor.tokenizer.pad_token is None:
            # What pads the shorter ones of a batch is masked: any token will do.
            processor.tokenizer.pad_token = processor.tokenizer.eos_token
        return processor, model

    @cached_property
    def _generation(self) -> Any:
        """How to generate: the model's own configuration, changed as the entry says."""
        _, model = self._loaded
        config = type(model.generation_config).from_dict(model.generation_config.to_dict())
        wrong = self._settings.others.keys() - (config.to_dict().keys() - _OURS)
        if wrong:
            raise Closed(
                f"transformers takes no {', '.join(sorted(wrong))} for {self._model.model}: "
                "correct its parameters in models.yaml"
            )
        try:
            config.update(**self._settings.others)
        except (ValueError, TypeError) as error:
            raise Closed(
                f"Correct the parameters of {self._model.name} in models.yaml: {error}"
            ) from error
        if config.max_new_tokens is None and config.max_length is None:
            config.max_new_tokens = _LONGEST_ANSWER
        return config


def sampling_seed(request: Look | Write) -> int:
    """The seed of a request's answer where tokens are sampled: 32 bits of its hash."""
    words = json.dumps(asdict(request), sort_keys=True)
    return int.from_bytes(sha256(words.encode()).digest()[:4], "big")


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """With torch's randomness, which is one for the process, begun at a seed and ours alone."""
    torch = library("torch")
    with _GLOBAL_RANDOMNESS, torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
