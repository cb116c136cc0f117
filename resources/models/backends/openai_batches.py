"""OpenAI's batches: a file of requests goes up, a day later at most files of results come down."""

import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from tempfile import TemporaryFile
from typing import IO, Any, Literal

import httpx2
from openai import APIConnectionError, APIStatusError
from pydantic import BaseModel, Field

from resources.models.backends.base import BatchState
from resources.models.backends.batch_files import (
    Result,
    line_size,
    lines_of,
    not_created,
    results_of,
    told,
)
from resources.models.backends.http_client import longest_reply
from resources.models.backends.openai import EDITS, OpenAI, data_url, fault_of, no_refusal
from resources.models.backends.reply_schemas import Aside, Shape, an_object, fitted
from resources.models.backends.wire import bytes_of, interruption, without_key
from resources.models.replies import Fault, Interrupted, Refusal, Reply, Unacceptable
from resources.models.requests import Edit, Request, Score

TAG = "counterfactory"
"""The field of a batch's metadata that has its tag."""
_VERSION = "/v1"
_PAGE = 100
_ENDS: Mapping[str, Literal["ended", "failed", "expired", "cancelled"]] = {
    "completed": "ended",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
}
"""What a status of OpenAI's is for us; in all others the batch is running."""
_NOT_RUN = ("batch_expired", "batch_cancelled")


class _File(BaseModel):
    id: str


class _Error(BaseModel):
    code: Aside = None
    message: Aside = None

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.code, self.message]))


class _Errors(BaseModel):
    data: list[_Error] | None = None


class _RemoteBatch(BaseModel):
    id: str
    status: str
    endpoint: str
    metadata: dict[str, Any] | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Errors | None = None


class _Page(BaseModel):
    data: list[_RemoteBatch]
    has_more: bool = False


class _Response(BaseModel):
    status_code: int
    body: Any = None


class _Line(Result):
    name: str = Field(alias="custom_id")
    response: Any = None
    error: Any = None


class BatchedOpenAI(OpenAI):
    """A model behind OpenAI's API, asked at once or in batches."""

    largest_batch = (50_000, 190_000_000)
    """OpenAI takes 200 MB, of which a part is left for what counts differently there."""

    def line_size(self, request: Request) -> int:
        """How many bytes a request takes in a batch's file, at most."""
        return line_size(self._model, request, self._picture)

    async def submit(self, requests: Mapping[str, Request], tag: str) -> str:
        """Upload requests of one kind, and create their batch; gives its id."""
        file_id = ""
        with TemporaryFile() as file:
            endpoint = await self._write_lines(requests, file)
            file.seek(0)
            files = [("file", ("batch.jsonl", file, "application/jsonl"))]
            try:
                sent = self._post("/files", {"purpose": "batch"}, files)
                file_id = (await self._shaped(_File, sent)).id
                asked = {
                    "input_file_id": file_id,
                    "endpoint": endpoint,
                    "completion_window": "24h",
                    "metadata": {TAG: tag},
                }
                return (await self._shaped(_RemoteBatch, self._post("/batches", asked))).id
            except Fault as fault:
                problem = not_created(fault, self._model, uploaded=bool(file_id))
        raise problem

    async def find(self, tag: str) -> str | None:
        """The id of the batch that carries `tag`, the latest one of several."""
        query: dict[str, Any] = {"limit": _PAGE}
        while True:
            page = await self._shaped(_Page, self._got("/batches", query))
            for batch in page.data:
                if (batch.metadata or {}).get(TAG) == tag:
                    return batch.id
            if not page.has_more or not page.data:
                return None
            query["after"] = page.data[-1].id

    async def state(self, batch: str) -> BatchState:
        """How a batch stands; of one that failed, with OpenAI's reasons."""
        shown = await self._shown(batch)
        errors = (shown.errors.data if shown.errors else None) or []
        said = without_key(". ".join([shown.status, *map(str, errors)]), self._key)
        return BatchState(_ENDS.get(shown.status, "running"), said)

    async def results(self, batch: str) -> AsyncIterator[tuple[str, Reply | Fault]]:
        """What came of the requests of a batch, by name; see `BatchBackend`."""
        shown = await self._shown(batch)
        # What was answered first: of a request that is in both files, that is kept.
        files = [file for file in (shown.output_file_id, shown.error_file_id) if file]
        if shown.status == "completed" and not files:
            raise Interrupted(f"The batch {batch} is completed, yet has no file of results.")
        path = shown.endpoint.removeprefix(_VERSION)

        async def read(line: _Line) -> Reply:
            return await self._read(path, line)

        async for end in results_of(self._lines(files), _Line, read, longest_reply(self._model)):
            yield end

    async def cancel(self, batch: str) -> None:
        """Ask OpenAI to stop a batch; one that is over already is left as it is."""
        problem: Fault
        try:
            await self._shaped(_RemoteBatch, self._post(f"/batches/{batch}/cancel", {}))
            return
        except Fault as fault:
            problem = fault
        if (await self.state(batch)).word == "running":
            raise problem

    async def _write_lines(self, requests: Mapping[str, Request], file: IO[bytes]) -> str:
        """Write one line for each request; gives the endpoint that all of them share."""
        endpoint = ""
        for name, request in requests.items():
            path, body = await self._in_json(request)
            endpoint = f"{_VERSION}{path}"
            line = {"custom_id": name, "method": "POST", "url": endpoint, "body": body}
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            file.write(text.encode() + b"\n")
        return endpoint

    async def _in_json(self, request: Request) -> tuple[str, dict[str, Any]]:
        """Where a request is sent, and its body; an edit, which alone is a form, is JSON here."""
        if isinstance(request, Edit):
            images = await bytes_of(request.images, self._picture)
            body = {**self._model.parameters, "model": self._model.model, "prompt": request.prompt}
            return EDITS, {**body, "images": [{"image_url": data_url(data)} for data in images]}
        if isinstance(request, Score):
            raise Unacceptable(f"{self._model.name} cannot score: ask a metric.")
        return await self._asked(request)

    async def _read(self, path: str, line: _Line) -> Reply:
        """The reply in a line; raises the fault that it would have been online."""
        if line.response is None:
            error = fitted(_Error, an_object(line.error))
            words = str(error) or "The line holds neither a reply nor an error."
            never_run = error.code in _NOT_RUN
            raise Interrupted(without_key(words, self._key), possibly_paid=not never_run)
        response = fitted(_Response, line.response)
        status, body = response.status_code, response.body
        if status == 200:
            return await self._reply(path, json.dumps(body).encode())
        said = body.get("error", body) if isinstance(body, Mapping) else body
        end = self._problem(status, said, {})
        if isinstance(end, Refusal):
            return Reply(refusal=end)
        raise end

    async def _lines(self, files: list[str]) -> AsyncIterator[bytes]:
        """The lines of files, as they come down."""
        longest = longest_reply(self._model)
        problem: Fault
        try:
            for file in files:
                content = self._sdk.files.with_streaming_response.content(file)
                async with content as response:
                    async for line in lines_of(response.iter_bytes(), longest):
                        yield line
            return
        except APIStatusError as error:
            end = self._problem(error.status_code, error.body, error.response.headers)
            problem = fault_of(end)
        except APIConnectionError as error:
            problem = interruption(error.__cause__ or error, self._key)
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            problem = interruption(error, self._key)
        raise problem

    async def _shown(self, batch: str) -> _RemoteBatch:
        return await self._shaped(_RemoteBatch, self._got(f"/batches/{batch}", {}))

    async def _shaped(self, shape: type[Shape], call: Awaitable[bytes | Refusal]) -> Shape:
        """What a reply about batches says; none of these is about what a model may say."""
        return told(shape, no_refusal(await call))
