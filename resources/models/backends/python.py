"""A metric of the user's own: a Python function that scores a picture against a text."""

import asyncio
import io
from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property
from importlib import import_module
from threading import Thread
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
        await self._alone.acquire()
        scoring = asyncio.wrap_future(self._start(request))
        # At a deadline the function goes on, and may not be called again until it has ended.
        scoring.add_done_callback(lambda _: self._alone.release())
        return await asyncio.shield(scoring)

    def _start(self, request: ScoreRequest) -> Future[ModelReply]:
        """Score in a thread that the process need not wait for: the function may never return."""
        future = Future[ModelReply]()
        future.set_running_or_notify_cancel()

        def run() -> None:
            try:
                future.set_result(self._score(request))
            except BaseException as error:  # noqa: BLE001 - raised where the score is awaited
                future.set_exception(error)

        Thread(target=run, name=self._model.name, daemon=True).start()
        return future

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
