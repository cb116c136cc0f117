"""A metric of the user's own: a Python function that scores a picture against a text."""

import asyncio
import io
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from time import perf_counter
from typing import Any

from PIL import Image

from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.models.formulas import read_scale
from resources.models.replies import ModelReply, ModelUnavailable, UnacceptableRequest, Usage
from resources.models.requests import ScoreRequest


class Python:
    """The function that `model` names, as in `my_metrics:brightness`.

    It gets the picture (a `PIL.Image.Image`, RGB) and the text, and gives a number within the
    `scale` of its entry. It is called for one picture at a time, and need not be safe for threads.
    """

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        self._model, self._picture = model, picture
        self._alone = asyncio.Lock()

    @cached_property
    def _function(self) -> Callable[[Any, str], Any]:
        """Raises `ModelUnavailable` where there is no such function."""
        called = f"{self._model.name}: {self._model.model}"
        module, _, name = self._model.model.partition(":")
        try:
            function: Callable[[Any, str], Any] = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise ModelUnavailable(
                f"{called} cannot be imported ({error}). Write it as "
                "module:function, and put the module where Dagster runs, or install it"
            ) from error
        if not callable(function):
            raise ModelUnavailable(f"{called} is no function")
        return function

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    async def score(self, request: ScoreRequest) -> ModelReply:
        """The number that the function gives; raises `UnacceptableRequest` where it is none."""
        async with self._alone:
            return await asyncio.to_thread(self._score, request)

    def _score(self, request: ScoreRequest) -> ModelReply:
        function, began = self._function, perf_counter()
        with Image.open(io.BytesIO(self._picture(request.image))) as image:
            picture = image.convert("RGB")
        try:
            result = function(picture, request.text)
        except Exception as error:
            raise UnacceptableRequest(
                f"{self._model.model} raised {type(error).__name__}: {error}"
            ) from error
        low, high = read_scale(self._model.parameters)
        try:
            score = float(result)
        except (TypeError, ValueError):
            raise UnacceptableRequest(
                f"{self._model.model} gave {result!r}, which is no number"
            ) from None
        if not low <= score <= high:
            raise UnacceptableRequest(f"{self._model.model} gave {score}, not {low:g} to {high:g}")
        version = str(self._model.parameters["version"])
        usage = Usage(gpu_seconds=perf_counter() - began)
        return ModelReply(
            score=score, served_model=version, usage=usage, provenance={"version": version}
        )
