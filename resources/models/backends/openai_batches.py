"""OpenAI's batches: a file of requests goes up, a day later at most files of results come down."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import IO, Any

from pydantic import BaseModel, Field

from resources.models.backends.base import BatchBackend, BatchState, BatchStatus, to_batch_status
from resources.models.backends.batch_files import (
    ResultLine,
    parse_batch_reply,
    read_results,
    split_lines,
)
from resources.models.backends.hosted_models import load_pictures, redact_key
from resources.models.backends.http_client import get_max_reply_bytes
from resources.models.backends.openai import EDITS, ERRORS, OpenAI, build_data_url
from resources.models.backends.reply_schemas import (
    OptionalText,
    nested_field,
    to_object,
    validate_reply,
)
from resources.models.replies import Interrupted, ModelReply, RequestFault
from resources.models.requests import EditRequest, Request

TAG_FIELD = "counterfactory"
"""The field of a batch's metadata that has its tag."""
_VERSION = "/v1"
_PAGE = 100
_WORDS: Mapping[str, BatchStatus] = {
    "validating": "running",
    "in_progress": "running",
    "finalizing": "running",
    "cancelling": "running",
    "completed": "ended",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
}
"""Our batch status for each of OpenAI's."""
_NOT_RUN = ("batch_expired", "batch_cancelled")


class _UploadedFile(BaseModel):
    id: str


class _Error(BaseModel):
    code: OptionalText = None
    message: OptionalText = None

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.code, self.message]))


class _OpenAIBatch(BaseModel):
    id: str
    status: str
    endpoint: str
    metadata: dict[str, Any] | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: list[_Error] | None = nested_field("errors", "data")


class _OpenAIBatchPage(BaseModel):
    data: list[_OpenAIBatch]
    has_more: bool | None = None
    """Never guessed: who reads too few pages believes that there is no such batch."""
    error: Any = None


class _Response(BaseModel):
    status_code: int
    body: Any = None


class _OpenAIResultLine(ResultLine):
    name: str = Field(alias="custom_id")
    response: Any = None
    error: Any = None


class BatchedOpenAI(BatchBackend, OpenAI):
    """A model behind OpenAI's API, asked at once or in batches."""

    largest_batch = (50_000, 190_000_000)
    """OpenAI takes 200 MB, of which a part is left for what counts differently there."""

    async def _upload(self, file: IO[bytes]) -> str:
        file.seek(0)
        files = [("file", ("batch.jsonl", file, "application/jsonl"))]
        return parse_batch_reply(
            _UploadedFile, await self._post("/files", {"purpose": "batch"}, files)
        ).id

    async def _create(self, file: str, endpoint: str, tag: str) -> str:
        fields = {
            "input_file_id": file,
            "endpoint": endpoint,
            "completion_window": "24h",
            "metadata": {TAG_FIELD: tag},
        }
        return parse_batch_reply(_OpenAIBatch, await self._post("/batches", fields)).id

    async def find(self, tag: str) -> str | None:
        """The id of the batch that carries `tag`, the latest one of several."""
        query: dict[str, Any] = {"limit": _PAGE}
        seen_ids: set[str] = set()
        while True:
            page = parse_batch_reply(_OpenAIBatchPage, await self._get("/batches", query))
            if page.error is not None:
                raise Interrupted("The list of batches holds an error as well: it may lack some.")
            for batch in page.data:
                if (batch.metadata or {}).get(TAG_FIELD) == tag:
                    return batch.id
            new = [batch.id for batch in page.data if batch.id not in seen_ids]
            # Where it says nothing of more, pages are read until one has none, as by the SDK.
            if page.has_more is False or (page.has_more is None and not new):
                return None
            if not new:
                raise Interrupted(
                    "A page of the list of batches has no further one, and is not the last."
                )
            seen_ids.update(new)
            query["after"] = new[-1]

    async def state(self, batch: str) -> BatchState:
        """Fetch a batch's state, with OpenAI's reasons where it failed."""
        return self._parse_state(await self._fetch_batch(batch))

    async def results(self, batch: str) -> AsyncIterator[tuple[str, ModelReply | RequestFault]]:
        """Iterate a batch's results by request name; see `BatchBackend`."""
        shown = await self._fetch_batch(batch)
        self._parse_state(shown).require_ended(batch)
        # What was answered first: of a request that is in both files, that is kept.
        files = [file for file in (shown.output_file_id, shown.error_file_id) if file]
        if shown.status == "completed" and not files:
            raise Interrupted(f"The batch {batch} is completed, yet has no file of results.")
        path = shown.endpoint.removeprefix(_VERSION)

        async def read(line: _OpenAIResultLine) -> ModelReply:
            return await self._reply(path, self._body(line))

        async for end in read_results(
            self._lines(files), _OpenAIResultLine, read, get_max_reply_bytes(self._model)
        ):
            yield end

    def _parse_state(self, shown: _OpenAIBatch) -> BatchState:
        status = redact_key(shown.status, self._key)
        description = redact_key(". ".join([status, *map(str, shown.errors or [])]), self._key)
        return BatchState(to_batch_status(_WORDS, status), description)

    async def _stop(self, batch: str) -> None:
        parse_batch_reply(_OpenAIBatch, await self._post(f"/batches/{batch}/cancel", {}))

    async def _write_lines(self, requests: Mapping[str, Request], file: IO[bytes]) -> str:
        """Write one line for each request; gives the endpoint that all of them share."""
        endpoint = ""
        for name, request in requests.items():
            path, body = await self._build_line(request)
            endpoint = f"{_VERSION}{path}"
            line = {"custom_id": name, "method": "POST", "url": endpoint, "body": body}
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            file.write(text.encode() + b"\n")
        return endpoint

    async def _build_line(self, request: Request) -> tuple[str, dict[str, Any]]:
        """Build the path and the body of a request; an edit, elsewhere a form, is JSON here."""
        request = self._refuse_score(request)
        if isinstance(request, EditRequest):
            images = await load_pictures(request.images, self._picture)
            body = {**self._model.parameters, "model": self._model.model, "prompt": request.prompt}
            return EDITS, {
                **body,
                "images": [{"image_url": build_data_url(data)} for data in images],
            }
        return await self._build_body(request)

    async def _body(self, line: _OpenAIResultLine) -> bytes:
        """The reply in a line; raises the fault that it would have been online."""
        if line.response is None:
            error = validate_reply(_Error, to_object(line.error))
            words = str(error) or "The line holds neither a reply nor an error."
            never_run = error.code in _NOT_RUN
            raise Interrupted(redact_key(words, self._key), possibly_paid=not never_run)
        response = validate_reply(_Response, line.response)
        status, body = response.status_code, response.body
        if status == 200:
            return json.dumps(body).encode()
        error_body = body.get("error", body) if isinstance(body, Mapping) else body
        raise self._problem(status, error_body, {})

    async def _lines(self, files: list[str]) -> AsyncIterator[bytes]:
        """The lines of files, as they come down."""
        longest = get_max_reply_bytes(self._model)
        try:
            for file in files:
                content = self._sdk.files.with_streaming_response.content(file)
                async with content as response:
                    async for line in split_lines(response.iter_bytes(), longest):
                        yield line
            return
        except ERRORS as error:
            problem = self._fault(error)
        raise problem

    async def _fetch_batch(self, batch: str) -> _OpenAIBatch:
        return parse_batch_reply(_OpenAIBatch, await self._get(f"/batches/{batch}", {}))
