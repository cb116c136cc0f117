"""The server: OpenAI, Gemini and Anthropic on one port, in a thread of the test's process."""

import asyncio
import json
import re
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self, TypeAlias

from tests.providers import (
    anthropic_wire,
    faults,
    gemini_batches,
    gemini_wire,
    openai_batches,
    openai_wire,
    pictures,
)
from tests.providers.batches import Batches
from tests.providers.control import control
from tests.providers.exchange import Exchange
from tests.providers.faults import Fault
from tests.providers.http import Connection, HttpRequest, Response, json_response
from tests.providers.plan import Plan
from tests.providers.received import Received
from tests.providers.schemas import example

_WIRES: Mapping[str, Any] = {
    "gemini": gemini_wire,
    "anthropic": anthropic_wire,
    "openai": openai_wire,
}
"""In the order in which a request is read: the first by whose headers its path is told."""
_ENGINE_PATHS = {"/get_server_info", "/version", "/api/version", "/props", "/api/v0/models"}
_SCALE = re.compile(r'"score": <integer (\d+)–(\d+)>')
_YES_OR_NO = "{Yes} or {No}"
_LOOK_AGAIN_S = 0.005
_LONGEST_HOLD_S = 300
_BATCHES: Mapping[str, Any] = {"gemini": gemini_batches, "openai": openai_batches}

Answer: TypeAlias = str | bytes | Fault | Response
"""Text, the file of a picture, a fault, or a reply as it is sent."""


def default_answer(received: Received) -> Answer:
    """Something that depends on what is asked alone, and is of the kind that is asked for.

    A small PNG, JSON to the schema, a rating within its scale, `{Yes}` or `{No}`, or a number in
    brackets. Of ten ratings about six are in the upper third, so that a filter keeps something.
    """
    if received.task == "picture":
        wire = openai_wire if received.provider == "openai" else gemini_wire
        data = pictures.png(received.digest, *wire.size(received))
        wanted = received.parameters.get("output_format", "png")
        return data if wanted == "png" else pictures.converted(data, wanted)
    if received.schema is not None:
        return json.dumps(example(received.schema, received.digest[:8]))
    lot = int(received.digest[:8], 16)
    asked = received.texts[-1] if received.texts else ""
    if scale := _SCALE.search(asked):
        low, high = int(scale[1]), int(scale[2])
        upper = range(high - (high - low) // 3, high + 1)
        ratings = upper if lot % 10 < 6 else range(low, high + 1)
        return json.dumps({"score": ratings[lot // 10 % len(ratings)]})
    if _YES_OR_NO in asked:
        return "{Yes}" if lot % 2 else "{No}"
    return f"{{{lot % 10}}}"


class Provider(Plan):
    """A provider at `url`; OpenAI's base URL is `openai_url`, the others' is `url`.

    While it is open, `answer` and the plan may be changed from any thread. What goes wrong in the
    server itself, in `answer` for one, is sent as a 500 and raised when the `with` block ends.
    """

    def __init__(
        self,
        answer: Callable[[Received], Answer] = default_answer,
        latency_s: float = 0.0,
        key: str | None = None,
        served: Mapping[str, str] | None = None,
        port: int = 0,
        keep_bodies: bool = True,
    ) -> None:
        super().__init__()
        self.answer = answer
        self.latency_s = latency_s
        self.key = key
        """The only key that is taken; None takes all requests, also those without a key."""
        self.served = dict(served or {})
        """Which model says it has answered, where it is not the one that was asked."""
        self.models = {
            "openai": list(openai_wire.MODELS),
            "gemini": list(gemini_wire.MODELS),
            "anthropic": list(anthropic_wire.MODELS),
        }
        """What each lists; add one, and a new model has landed."""
        self.held: Callable[[Received], bool] = lambda _: False
        """Whether a request still waits for its reply: asked again every few milliseconds.

        One that waits for minutes is a mistake of the test.
        """
        self.engine: Mapping[str, Any] = {"/version": {"version": "0.11.0"}}
        """What it sends by path where it is asked for its engine, as vLLM; elsewhere a 404."""
        self.engine_requests: list[str] = []
        """The paths at which it was asked for its engine."""
        self.owner = "system"
        """Who owns its models, as its list says."""
        self.models_on_a_page: int | None = None
        self.counts: Callable[[bytes], int] | None = None
        """How many tokens a picture is billed as; None is 100 for each."""
        self.received: list[Received] = []
        """Requests to the API in the order in which they came."""
        self.downloads: list[HttpRequest] = []
        """Requests for the files of pictures that were given by URL."""
        self.in_flight = 0
        self.most_in_flight = 0
        self._port = port
        self._keep_bodies = keep_bodies
        self.batches = Batches(self._answered)
        """Batches and their files; what they ask is `received` when they are first seen over."""
        self._files: dict[str, bytes] = {}
        self._connections: set[Connection] = set()
        self._errors: list[Exception] = []

    @property
    def count(self) -> int:
        """How many requests have come."""
        return len(self.received)

    @property
    def url(self) -> str:
        """Where the server is, without a slash at the end."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """The base URL for an OpenAI client."""
        return f"{self.url}/v1"

    def __enter__(self) -> Self:
        listening = socket.create_server(("127.0.0.1", self._port), backlog=512)
        self._port = listening.getsockname()[1]
        ready = Event()
        self._thread = Thread(
            target=lambda: asyncio.run(self._serve(listening, ready)), daemon=True
        )
        self._thread.start()
        ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._errors and error is None:
            raise self._errors[0]

    async def _serve(self, listening: socket.socket, ready: Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(
            lambda: Connection(self._handle, self._connections), sock=listening
        )
        ready.set()
        await self._stop.wait()
        server.close()
        for connection in list(self._connections):
            connection.close()
        await asyncio.sleep(0)

    async def _handle(self, request: HttpRequest) -> Response:
        try:
            return await self._api(request)
        except Exception as error:  # noqa: BLE001  # raised again when the test ends
            self._errors.append(error)
            return json_response({"error": {"message": traceback.format_exc()}}, 500)

    async def _api(self, request: HttpRequest) -> Response:
        if request.path.startswith("/files/"):
            self.downloads.append(request)
            return Response(self._files[request.path], media_type="image/png")
        if request.path in _ENGINE_PATHS:
            self.engine_requests.append(request.path)
            return await self._describe_engine(request.path)
        if request.path.startswith("/_"):
            return control(self, request)
        at = time.monotonic()
        readings = (wire.read(request, at) for wire in (*_WIRES.values(), *_BATCHES.values()))
        received = next(filter(None, readings), None)
        if received is None:
            raise LookupError(f"No provider has {request.method} {request.path}")
        if self.counts is not None:
            received = replace(received, counted=sum(map(self.counts, received.images)))
        self._note(received)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self._release(received)
            response = self._reply(received)
            if wait := self.latency_s + response.delay:
                await asyncio.sleep(wait)
        finally:
            self.in_flight -= 1
        return response

    async def _describe_engine(self, path: str) -> Response:
        told = self.engine.get(path)
        if isinstance(told, Response):
            await asyncio.sleep(told.delay)
            return told
        return json_response({} if told is None else told, 404 if told is None else 200)

    async def _release(self, received: Received) -> None:
        while self.held(received):
            if time.monotonic() - received.at > _LONGEST_HOLD_S:
                raise TimeoutError(f"What this reply was held for never came: {received.texts}")
            await asyncio.sleep(_LOOK_AGAIN_S)

    def _note(self, received: Received) -> None:
        self.received.append(received if self._keep_bodies else received.without_bodies())

    def _answered(self, received: Received) -> Response:
        """What a request of a batch comes to."""
        self._note(received)
        return self.fault_in_batch(received).reply(self._exchange(received))

    def _exchange(self, received: Received) -> Exchange:
        served = self.served.get(received.model, received.model)
        exchange = Exchange(received, served, lambda: self._normal(exchange), self._publish)
        return exchange

    def _reply(self, received: Received) -> Response:
        exchange = self._exchange(received)
        if self.key is not None and received.key != self.key:
            return faults.INVALID_KEY.reply(exchange)
        if received.path.startswith("/elsewhere/"):
            return exchange.normal()
        return self.fault_for(received).reply(exchange)

    def _normal(self, exchange: Exchange) -> Response:  # noqa: PLR0911  # one for each kind
        received = exchange.received
        if received.task == "models":
            names = self.models[received.provider]
            more = {"owner": self.owner} if received.provider == "openai" else {}
            listed: Response = _WIRES[received.provider].models(
                names, received.path, self.models_on_a_page, **more
            )
            return listed
        if received.task not in ("text", "picture"):
            return self._about_batches(received)
        refusal: Response | None = _WIRES[received.provider].refused_parameter(received)
        if refusal is not None:
            return refusal
        match self.answer(received):
            case Response() as response:
                return response
            case Fault() as fault:
                return fault.reply(exchange)
            case str() as text:
                return exchange.text(text)
            case data:
                return exchange.picture(data)

    def _about_batches(self, received: Received) -> Response:
        response: Response = _BATCHES[received.provider].reply(received, self.batches)
        if received.task == "create batch" and response.status == 200:
            latest = self.batches.all[next(reversed(self.batches.all))]
            response = replace(response, delay=latest.course.silent_s)
            return response if latest.course.heard else replace(response, delivery="nothing")
        return response

    def _publish(self, data: bytes) -> str:
        path = f"/files/{sha256(data).hexdigest()}.png"
        self._files[path] = data
        return f"{self.url}{path}"
