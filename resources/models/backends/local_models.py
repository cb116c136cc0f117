"""Shared parts of local backends: libraries, devices, faults."""

import asyncio
import re
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, wraps
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, NamedTuple, TypeVar, overload

from jinja2 import TemplateError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from resources.models.backends.base import PictureLoader
from resources.models.backends.default_batch import DefaultBatch
from resources.models.backends.dynamic_batching import BatchStages, DynamicBatcher
from resources.models.backends.hosted_models import check_key, redact_key
from resources.models.backends.model_folders import explain_file, explain_folder
from resources.models.catalog import Model
from resources.models.replies import ModelReply, ModelUnavailable, RequestFault, UnacceptableRequest
from resources.models.weights import NoWeights, find_weights

SettingsType = TypeVar("SettingsType", bound="LocalSettings")

_LOADING = threading.Lock()
"""One model at a time: transformers replaces its own functions while it loads, for all threads.

Of two that load at once, the second may put back the first one's replacement, and from then on no
model in the process ties its weights.
"""


def _refuse_kernels(attention: str) -> str:
    if not re.fullmatch("[a-z0-9_]+", attention) or attention.endswith("_hub"):
        raise ValueError(f"{attention!r} would fetch code from the Hub: name one that is installed")
    return attention


_RUNNING_ERRORS = (
    *(AssertionError, AttributeError, LookupError, MemoryError, NameError, RuntimeError),
    *(TemplateError, TypeError, ValueError),
)
"""Errors that libraries raise for a request that a model cannot take, or without a library."""


class LocalSettings(BaseModel):
    """Parameters of an entry that say how to run a model; the others are the model's own.

    `batch` is how many requests are worked on at once, `device` and `dtype` are in torch's words,
    `revision` is a branch, a tag or a commit of the Hugging Face Hub, `attention` is how attention
    is computed, in the words of diffusers (its attention backends) or of transformers
    (`attn_implementation`). Kernels of the Hub are not taken: they are code.
    """

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    batch: int | None = Field(default=None, ge=1)
    device: str | None = None
    dtype: str | None = None
    revision: str | None = None
    attention: Annotated[str, AfterValidator(_refuse_kernels)] | None = None

    @property
    def model_parameters(self) -> dict[str, Any]:
        """The parameters that are left: those of the model's call."""
        return self.model_extra or {}


@overload
def parse_settings(model: Model) -> LocalSettings: ...
@overload
def parse_settings(model: Model, kind: type[SettingsType]) -> SettingsType: ...
def parse_settings(model: Model, kind: type[LocalSettings] = LocalSettings) -> LocalSettings:
    """Parse an entry's settings; raises `ModelUnavailable` where one is wrong."""
    try:
        return kind(**model.parameters)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ModelUnavailable(
            f"The parameter {first['loc'][0]} of {model.name} in models.yaml is wrong: "
            f"{first['msg']}"
        ) from None


def import_library(name: str) -> Any:
    """Import a library of the extra `local`; raises `ModelUnavailable` without it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelUnavailable(
            f"Local models need {name}, which cannot be imported ({error}): install it with "
            "pip install 'counterfactory[local]'"
        ) from error


def choose_device(settings: LocalSettings) -> str:
    """Choose the device: the entry's, else a CUDA device if there is one, else the CPU."""
    return settings.device or ("cuda" if import_library("torch").cuda.is_available() else "cpu")


def resolve_commit(model: Model, key: str | None, revision: str | None) -> str | None:
    """The commit of the Hub that a model comes from; None for a folder, which has none.

    With the commit known, all files come from it, and the answer can say what was served. Raises
    `ModelUnavailable` without the extra `local`, and for an id that neither the Hub nor its local
    cache has, or a single file.
    """
    # An id that the Hub does not give is no matter where nothing could run it.
    import_library("torch")
    if Path(model.model).is_dir():
        return None
    if Path(model.model).is_file():
        raise ModelUnavailable(explain_file(model.model))
    check_key(model, key)
    hub = import_library("huggingface_hub")
    try:
        revision_info = hub.resolve_revision(model.model, revision=revision, token=key)
    except (hub.errors.RevisionResolutionError, OSError, ValueError) as error:
        raise ModelUnavailable(
            f"{model.model} is no folder, and the Hugging Face Hub does not give "
            f"it: {redact_key(error, key)} Check `model` and `revision` in models.yaml; accept "
            "its licence on the Hub and set HF_TOKEN if it is gated or private; without a "
            f"network, fetch it before: hf download {model.model}"
        ) from None
    return str(revision_info.resolved)


class ModelFiles(NamedTuple):
    """The files that a model is loaded from: of one commit of the Hub, or of a folder."""

    model: Model
    key: str | None
    commit: str | None

    @classmethod
    def resolve(cls, model: Model, key: str | None, revision: str | None) -> "ModelFiles":
        """Resolve the files of an entry of models.yaml; raises as `resolve_commit`."""
        return cls(model, key, resolve_commit(model, key, revision))

    @property
    def served_model(self) -> str:
        """The origin that an answer names: id and commit, or the folder."""
        return self.model.model if self.commit is None else f"{self.model.model}@{self.commit}"

    def describe(self) -> dict[str, str]:
        """The commit of the weights, or for a folder their digest: 16 digits of its sha256."""
        if self.commit is not None:
            return {"commit": self.commit}
        try:
            return {"weights": find_weights(Path(self.model.model)).digest[:16]}
        except NoWeights:
            return {}

    def load(self, kind: Any, **how: Any) -> Any:
        """Load a library's class from the files; no code that comes with a model is run."""
        source = {"revision": self.commit, "token": self.key, "trust_remote_code": False}
        with _LOADING:
            return kind.from_pretrained(self.model.model, **source, **how)

    def load_network(self, kind: Any, settings: LocalSettings) -> Any:
        """A network as its entry wants it, from weights in safetensors alone."""
        how = {} if settings.attention is None else {"attn_implementation": settings.attention}
        network = self.load(kind, dtype=settings.dtype or "auto", use_safetensors=True, **how)
        return network.to(choose_device(settings))


class LocalBackend:
    """A model that is loaded when it is first asked, and worked on by one thread."""

    _loaded: tuple[str, ...] = ()
    """The cached properties that hold what was loaded."""

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        self._model, self._key, self._picture = model, key, picture
        self._batcher = DynamicBatcher()
        self._default_batch = DefaultBatch(model)
        self._choosing = asyncio.Lock()

    async def aclose(self) -> None:
        """Let go of the model."""
        await self._batcher.aclose()
        for loaded in self._loaded:
            self.__dict__.pop(loaded, None)

    async def _ensure_loaded(self, name: str) -> None:
        """Load a cached property in the model's thread."""
        if name not in self.__dict__:
            await self._batcher.ask(self._load, name, at_once=self._model.concurrency)

    def _load(self, names: list[str]) -> list[Any]:
        return [getattr(self, name) for name in names]

    async def _ask_in_batches(
        self, stages: BatchStages, item: Any, *, alike: Hashable = None, length: int = 0
    ) -> ModelReply:
        """The reply to an item; the first one is alone where it shows how large batches may be."""
        batch = self._settings.batch or self._default_batch.size
        if batch is None:
            async with self._choosing:
                if self._default_batch.size is None and await self._default_batch.begin(
                    choose_device(self._settings)
                ):
                    reply: ModelReply = await self._batcher.ask(stages, item)
                    await self._default_batch.choose()
                    return reply
            batch = self._default_batch.size
        return await self._batcher.ask(stages, item, at_once=batch or 1, alike=alike, length=length)

    @cached_property
    def _settings(self) -> LocalSettings:
        return parse_settings(self._model)


class TimedOutput(NamedTuple):
    """What a model made of a batch, and the seconds that it took."""

    output: Any
    seconds: float

    def share(self, replies: Sequence[ModelReply]) -> list[ModelReply]:
        """The replies of the batch, with each one's share of the time in its usage."""
        share = self.seconds / len(replies)
        return [replace(reply, usage=replace(reply.usage, gpu_seconds=share)) for reply in replies]


def record_time(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], TimedOutput]:
    """A backend's method that runs the model on a batch, with the seconds that it takes."""

    @wraps(work)
    def timing(backend: Any, inputs: Any) -> TimedOutput:
        began = perf_counter()
        output = work(backend, inputs)
        return TimedOutput(output, perf_counter() - began)

    return timing


@contextmanager
def translate_loading_errors(model: Model, key: str | None) -> Iterator[None]:
    """Turn errors while a model loads into `ModelUnavailable`, with its name and the remedy.

    None of what is raised there is handed on as a cause: an error of the libraries underneath can
    hold the token.
    """
    try:
        yield
    except RequestFault:
        raise
    except Exception as error:  # noqa: BLE001 - all of it means the same
        if _is_memory(error):
            raise _build_memory_error(model, redact_key(error, key)) from None
        if "torchvision" in str(error).lower():
            torch = import_library("torch")
            raise ModelUnavailable(
                f"{model.model} needs torchvision in the version that belongs to torch "
                f"{torch.__version__}: install it from where torch came from "
                "(https://pytorch.org/get-started/locally)"
            ) from None
        if isinstance(error, ImportError):
            raise ModelUnavailable(
                f"{model.model} needs a library that is not installed: {redact_key(error, key)}"
            ) from None
        if problem := explain_folder(model.model, error):
            raise ModelUnavailable(problem) from None
        raise ModelUnavailable(
            f"{model.model} cannot be loaded: {redact_key(error, key)} (Only "
            "safetensors weights are, into classes of the library: no pickles, and no code that "
            "comes with a model.)"
        ) from None


@contextmanager
def translate_running_errors(model: Model) -> Iterator[None]:
    """Turn errors while a model works into a `RequestFault`, with its name and the remedy."""
    try:
        yield
    except _RUNNING_ERRORS as error:
        words = redact_key(error, None)
        if _is_memory(error):
            raise _build_memory_error(model, words) from error
        if isinstance(error, import_library("torch").AcceleratorError):
            raise ModelUnavailable(
                f"The device that {model.name} runs on failed, start again: {words}"
            ) from error
        raise UnacceptableRequest(f"{model.name} cannot take this request: {words}") from error


def _is_memory(error: Exception) -> bool:
    """Recognize that memory ran out: torch raises its own class on a GPU, words on a CPU."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in words or "allocate memory" in words


def _build_memory_error(model: Model, words: str) -> ModelUnavailable:
    batch = parse_settings(model).batch
    smaller = "batch: 1" if batch is None else f"a smaller batch (it is {batch})"
    return ModelUnavailable(
        f"{model.model} ran out of memory. In its parameters in models.yaml, set {smaller}, "
        f"smaller pictures or shorter answers, or a dtype of half the size. ({words})"
    )
