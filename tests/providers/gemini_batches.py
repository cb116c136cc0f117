"""Gemini's wire format for batches: files sent by the resumable protocol, and the batches."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.providers import gemini_wire
from tests.providers.batches import Batch, Batches, said
from tests.providers.http import HttpRequest, Response, json_response
from tests.providers.received import Received, Task

_TIME = "2026-11-21T08:00:00Z"
_TASKS: tuple[tuple[str, str, Task], ...] = (
    ("POST", r"/upload/v1(?:beta)?/files", "upload"),
    ("GET", r"/v1(?:beta)?/files/[^/]+:download", "download"),
    ("POST", r"/v1(?:beta)?/models/[^/:]+:batchGenerateContent", "create batch"),
    ("GET", r"/v1(?:beta)?/batches", "list batches"),
    ("GET", r"/v1(?:beta)?/batches/[^/:]+", "get batch"),
    ("POST", r"/v1(?:beta)?/batches/[^/:]+:cancel", "cancel batch"),
)
_STATES = {"completed": "SUCCEEDED", "failed": "FAILED"}
_OUTPUT = "type.googleapis.com/google.ai.generativelanguage.v1beta.GenerateContentBatchOutput"
_FAILED = {"code": 13, "message": "The batch failed for an internal error."}
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14}
"""The codes of gRPC, which a line of results has in place of HTTP's."""


def read(request: HttpRequest, at: float) -> Received | None:
    """The request in a test's terms, or None where it is not about batches."""
    path = urlsplit(request.path.removeprefix("/elsewhere")).path
    if "/v1beta/" not in path and "x-goog-api-key" not in request.headers:
        return None
    for method, pattern, task in _TASKS:
        if request.method == method and re.fullmatch(pattern, path):
            return Received("gemini", request.path, task, request.headers, request.body, at)
    return None


def reply(received: Received, batches: Batches) -> Response:  # noqa: PLR0911  # one for each task
    """What Gemini says to it."""
    url = urlsplit(received.path.removeprefix("/elsewhere"))
    query = parse_qs(url.query)
    name = re.sub("^/v1(beta)?/", "", url.path).partition(":")[0]
    match received.task:
        case "upload":
            return _upload(received, query, batches)
        case "create batch":
            return _create(received, name, batches)
        case "list batches":
            return _list(query, batches)
        case "download" if name in batches.files:
            return Response(batches.files[name], media_type="application/octet-stream")
        case "get batch" | "cancel batch" if name in batches.all:
            batch = batches.all[name]
            if received.task == "get batch":
                batch.polls += 1
                return json_response(_shown(batch, batches))
            if batch.end is None:
                batch.cancelled = True
                return json_response({})
            return gemini_wire.error(400, "FAILED_PRECONDITION", "The batch is over.")
    return gemini_wire.error(404, "NOT_FOUND", f"Requested entity was not found: {name}.")


def _upload(received: Received, query: Mapping[str, list[str]], batches: Batches) -> Response:
    commands = received.headers["x-goog-upload-command"].split(", ")
    if commands == ["start"]:
        assert received.headers["x-goog-upload-protocol"] == "resumable"
        name = f"upload{len(batches.uploads)}"
        batches.uploads[name] = bytearray()
        host = received.headers["host"]
        where = f"http://{host}/upload/v1beta/files?upload_id={name}&upload_protocol=resumable"
        begun = {"X-Goog-Upload-URL": where, "X-Goog-Upload-Status": "active"}
        return json_response({}, headers=begun)
    data = batches.uploads[query["upload_id"][0]]
    if int(received.headers["x-goog-upload-offset"]) != len(data):
        return gemini_wire.error(400, "INVALID_ARGUMENT", "The offset is not where the file ends.")
    data += received.body
    if "finalize" not in commands:
        return json_response({}, headers={"X-Goog-Upload-Status": "active"})
    name = batches.keep(bytes(data), "files/f")
    file = {"name": name, "mimeType": "application/jsonl", "sizeBytes": str(len(data))}
    return json_response(
        {"file": {**file, "state": "ACTIVE"}}, headers={"X-Goog-Upload-Status": "final"}
    )


def _create(received: Received, model: str, batches: Batches) -> Response:
    asked = json.loads(received.body)["batch"]
    file = asked["inputConfig"]["fileName"]
    if file not in batches.files:
        return gemini_wire.error(404, "NOT_FOUND", f"Requested entity was not found: {file}.")
    requests = []
    for line in batches.files[file].splitlines():
        each = json.loads(line)
        body = json.dumps(each["request"]).encode()
        path = f"/v1beta/{model}:generateContent"
        asks = gemini_wire.read(HttpRequest("POST", path, received.headers, body), received.at)
        assert asks
        requests.append((each["key"], asks))
    batch = Batch(
        id=f"batches/b{len(batches.all):06}",
        provider="gemini",
        tag=asked["displayName"],
        endpoint=model,
        input_file=file,
        requests=requests,
    )
    return json_response(_shown(batches.create(batch), batches))


def _list(query: Mapping[str, list[str]], batches: Batches) -> Response:
    """A page of batches, the latest first; none at all has not even an empty list."""
    size = min(int(query.get("pageSize", ["50"])[0]), 100)
    begin = int(query.get("pageToken", ["0"])[0])
    ids = batches.latest("gemini")
    page = [_shown(batches.all[name], batches) for name in ids[begin : begin + size]]
    more = {"nextPageToken": str(begin + size)} if begin + size < len(ids) else {}
    return json_response({**({"operations": page} if page else {}), **more})


def _shown(batch: Batch, batches: Batches) -> dict[str, Any]:
    """A batch as Gemini shows it, its results made when it is first shown to be over."""
    if batch.end == "completed" and not batch.files:
        lines = [_line(name, response) for name, response in batches.answers(batch)]
        batch.files["output"] = batches.keep_lines(batch, lines, "files/batch-")
    running = "RUNNING" if batch.polls else "PENDING"
    state = running if batch.end is None else _STATES.get(batch.end, batch.end.upper())
    made = {"responsesFile": batch.files["output"]} if batch.files else {}
    metadata: dict[str, Any] = {
        "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
        "model": batch.endpoint,
        "displayName": batch.tag,
        "inputConfig": {"fileName": batch.input_file},
        "createTime": _TIME,
        "updateTime": _TIME,
        "batchStats": {"requestCount": str(len(batch.requests))},
        "state": f"BATCH_STATE_{state}",
        "name": batch.id,
    }
    shown: dict[str, Any] = {"name": batch.id, "metadata": metadata}
    if batch.end is not None:
        shown["done"] = True
    if made:
        metadata["output"] = made
        shown["response"] = {"@type": _OUTPUT, **made}
    return {**shown, "error": _FAILED} if batch.end == "failed" else shown


def _line(name: str, response: Response | None) -> dict[str, Any]:
    assert response is not None
    body = said(response)
    if response.status == 200:
        return {"key": name, "response": body}
    wrong = body["error"] if isinstance(body, dict) else {"message": body}
    return {"key": name, "error": {**wrong, "code": _CODES.get(response.status, 13)}}
