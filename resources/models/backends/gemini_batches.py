"""Gemini's batches: a file of requests goes up, days later at most a file of results comes down.

Google also takes requests within the call that creates a batch. Users report that it then loses
the requests' names and changes their order, which leaves no way to tell the answers apart; and it
sends all results along whenever it is asked how the batch stands. So even a small batch is a file
here, in which every line has its name.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from typing import IO, Any
from urllib.parse import urlsplit

import httpx2
from google.genai import Client
from pydantic import Field, model_validator

from resources.models.backends.base import BatchBackend, BatchState, BatchStatus, to_batch_status
from resources.models.backends.batch_files import (
    ResultLine,
    parse_batch_reply,
    read_results,
    split_lines,
)
from resources.models.backends.gemini import ADDRESS, ERRORS, VERSION, Gemini
from resources.models.backends.hosted_models import redact_key
from resources.models.backends.http_client import get_max_reply_bytes
from resources.models.backends.reply_schemas import GoogleForm, Shape, nested_field, to_object
from resources.models.replies import Interrupted, ModelReply, RequestFault
from resources.models.requests import Request, get_request_kind
from resources.untrusted_input.json_text import BadJson, parse_untrusted

_CHUNK = 1_000_000
_PAGE = 100
_MEDIA_TYPE = "application/jsonl"
_WORDS: Mapping[str, BatchStatus] = {
    "QUEUED": "running",
    "PENDING": "running",
    "RUNNING": "running",
    "PAUSED": "running",
    "UPDATING": "running",
    "CANCELLING": "running",
    "SUCCEEDED": "ended",
    "PARTIALLY_SUCCEEDED": "ended",
    "FAILED": "failed",
    "EXPIRED": "expired",
    "CANCELLED": "cancelled",
}
"""Our batch status for each of Google's states, without their common prefix."""
_STATUSES: Mapping[int, int] = {
    1: 499,
    3: 400,
    4: 504,
    5: 404,
    7: 403,
    8: 429,
    9: 400,
    10: 409,
    14: 503,
    16: 401,
}
"""The HTTP status of a code of gRPC, which errors in a file of results have in its place."""


class _GeminiBatch(GoogleForm):
    name: str
    state: str = nested_field("metadata", "state", default="UNSPECIFIED")
    responses_file: str | None = nested_field("metadata", "output", "responsesFile")
    why_failed: str | None = nested_field("error", "message")


class _ListedBatch(GoogleForm):
    name: str
    metadata: dict[str, Any]
    """Checked as a whole: who finds no tag here believes that there is no such batch."""
    tag: str | None = nested_field("metadata", "displayName")


class _GeminiBatchPage(GoogleForm):
    operations: list[_ListedBatch] = Field(default_factory=list)
    next_page_token: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_empty_list(cls, page: Any) -> Any:
        """Accept an empty object as an empty list, as Google sends it, but no other object."""
        if isinstance(page, Mapping) and page and not {"operations", "nextPageToken"} & set(page):
            raise ValueError("it is no list of batches")
        return page


class _Uploaded(GoogleForm):
    name: str = nested_field("file", "name", default=...)


class _GeminiResultLine(ResultLine):
    name: str = Field(alias="key")
    response: Any = None
    error: Any = None


class _Echo(httpx2.AsyncBaseTransport):
    """Sends nothing, and gives back what would be sent: an online request, byte for byte."""

    def __init__(self) -> None:
        self.url = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.url = str(request.url)
        return httpx2.Response(200, content=await request.aread())


class BatchedGemini(BatchBackend, Gemini):
    """A Gemini model, asked at once or in batches."""

    largest_batch = (50_000, 500_000_000)
    """Google takes files of 2 GB; a smaller one is sooner sent again, and sooner answered."""

    async def find(self, tag: str) -> str | None:
        """The id of the batch that carries `tag`, the latest one of several."""
        query: dict[str, Any] = {"pageSize": _PAGE}
        while True:
            page = await self._call(
                _GeminiBatchPage, "GET", self._build_url("batches"), params=query
            )
            for batch in page.operations:
                if batch.tag == tag:
                    return batch.name
            if not page.next_page_token:
                return None
            query["pageToken"] = page.next_page_token

    async def state(self, batch: str) -> BatchState:
        """Fetch a batch's state, with Google's reason where it failed."""
        return self._parse_state(await self._call(_GeminiBatch, "GET", self._build_url(batch)))

    async def results(self, batch: str) -> AsyncIterator[tuple[str, ModelReply | RequestFault]]:
        """Iterate a batch's results by request name; see `BatchBackend`."""
        shown = await self._call(_GeminiBatch, "GET", self._build_url(batch))
        self._parse_state(shown).require_ended(batch)
        file = shown.responses_file
        if file is None:
            if shown.state.endswith("SUCCEEDED"):
                raise Interrupted(f"The batch {batch} has succeeded, yet has no file of results.")
            return
        async for name, end in read_results(
            self._lines(file), _GeminiResultLine, self._read, get_max_reply_bytes(self._model)
        ):
            yield name.partition(":")[2], end

    def _parse_state(self, shown: _GeminiBatch) -> BatchState:
        state = redact_key(shown.state, self._key)
        description = redact_key(". ".join(filter(None, [state, shown.why_failed])), self._key)
        return BatchState(to_batch_status(_WORDS, state.rpartition("_STATE_")[2]), description)

    async def _create(self, file: str, endpoint: str, tag: str) -> str:
        batch = {"displayName": tag, "inputConfig": {"fileName": file}}
        return (await self._call(_GeminiBatch, "POST", endpoint, json={"batch": batch})).name

    async def _stop(self, batch: str) -> None:
        await self._call(GoogleForm, "POST", self._build_url(f"{batch}:cancel"), json={})

    @cached_property
    def _echo(self) -> _Echo:
        return _Echo()

    @cached_property
    def _dry(self) -> Client:
        """The SDK over an echo."""
        client = self._open_client(httpx2.AsyncClient(transport=self._echo))
        client.close()  # What it opens for calls that are not asynchronous, and never uses.
        return client

    async def _write_lines(self, requests: Mapping[str, Request], file: IO[bytes]) -> str:
        """Write one line for each request; gives the address where a batch of them is created.

        The key of a line says how its answer is to be read, beside the name of its request.
        """
        for name, request in requests.items():
            body = await self._send(self._dry, self._refuse_score(request))
            key = json.dumps(f"{get_request_kind(request)}:{name}").encode()
            file.write(b'{"key": %b, "request": %b}\n' % (key, body.encode()))
        return self._echo.url.replace(":generateContent", ":batchGenerateContent")

    async def _upload(self, file: IO[bytes]) -> str:
        """Send a file by the resumable protocol, in one piece; gives its name at Google."""
        size = file.tell()
        file.seek(0)
        start_headers = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(size),
            "X-Goog-Upload-Header-Content-Type": _MEDIA_TYPE,
        }
        start_url = f"{self._base}/upload/{VERSION}/files"
        metadata = {"file": {"mimeType": _MEDIA_TYPE}}
        start_reply = await self._answer("POST", start_url, json=metadata, headers=start_headers)
        # To the server of models.yaml, whichever it names: no other gets the key.
        upload_url = urlsplit(start_reply.headers.get("x-goog-upload-url", ""))
        if not upload_url.path:
            raise Interrupted("Google does not say where to send the file of requests.")
        upload_headers = {
            "X-Goog-Upload-Command": "upload, finalize",
            "X-Goog-Upload-Offset": "0",
            "Content-Length": str(size),
        }
        url = httpx2.URL(start_url).copy_with(
            raw_path=f"{upload_url.path}?{upload_url.query}".encode()
        )
        upload_reply = await self._answer(
            "POST", str(url), content=_chunks(file), headers=upload_headers
        )
        return parse_batch_reply(_Uploaded, upload_reply.content).name

    async def _read(self, line: _GeminiResultLine) -> ModelReply:
        """The reply in a line; raises the fault that it would have been online."""
        if line.error is not None:
            code = to_object(line.error).get("code")
            status = _STATUSES.get(code, code) if isinstance(code, int) else 500
            status = status if 400 <= status < 600 else 500
            raise self._problem(status, {"error": line.error}, {})
        if line.response is None:
            raise Interrupted("The line holds neither a reply nor an error.")
        body = json.dumps(line.response)
        kind = line.name.partition(":")[0]
        return self._parse_picture(body) if kind in ("paint", "edit") else self._parse_text(body)

    async def _lines(self, file: str) -> AsyncIterator[bytes]:
        """The lines of a file, as they come down."""
        longest = get_max_reply_bytes(self._model)
        try:
            url = self._build_url(f"{file}:download")
            async with self._http.stream("GET", url, params={"alt": "media"}) as response:
                if response.status_code == 200:
                    async for line in split_lines(response.aiter_bytes(), longest):
                        yield line
                    return
                await response.aread()
                problem = self._build_fault(response)
        except ERRORS as error:
            problem = self._fault(error)
        raise problem

    @property
    def _base(self) -> str:
        return next(iter(self._model.base_urls), ADDRESS).rstrip("/")

    def _build_url(self, path: str) -> str:
        return f"{self._base}/{VERSION}/{path}"

    async def _call(self, shape: type[Shape], method: str, url: str, **more: Any) -> Shape:
        return parse_batch_reply(shape, (await self._answer(method, url, **more)).content)

    async def _answer(self, method: str, url: str, **more: Any) -> httpx2.Response:
        """A good reply; the SDK's own methods lose why a batch failed, and repeat uploads."""
        try:
            response = await self._http.request(method, url, **more)
            if response.status_code == 200:
                return response
            problem = self._build_fault(response)
        except ERRORS as error:
            problem = self._fault(error)
        # Out here, where no exception that holds the request is chained to this one.
        raise problem

    def _build_fault(self, response: httpx2.Response) -> RequestFault:
        try:
            body = parse_untrusted(response.content)
        except BadJson:
            body = response.text
        return self._problem(response.status_code, body, response.headers)


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, _CHUNK):
        yield chunk
