"""OpenAI's wire format for batches: files of requests and of results, and the batches."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.providers import openai_wire
from tests.providers.batches import Batch, Batches, said
from tests.providers.http import HttpRequest, Response, json_response
from tests.providers.received import Received, Task

ENDPOINTS = ("/v1/chat/completions", "/v1/images/generations", "/v1/images/edits")
_CREATED = 1_760_000_000
_TASKS: tuple[tuple[str, str, Task], ...] = (
    ("POST", r"/v1/files", "upload"),
    ("GET", r"/v1/files/([^/]+)/content", "download"),
    ("POST", r"/v1/batches", "create batch"),
    ("GET", r"/v1/batches", "list batches"),
    ("GET", r"/v1/batches/([^/]+)", "get batch"),
    ("POST", r"/v1/batches/([^/]+)/cancel", "cancel batch"),
)
_PROBLEMS = {
    "token_limit_exceeded": "Enqueued token limit reached for this model. Limit: 2,000,000 "
    "enqueued tokens. Please try again once some in_progress batches have been completed.",
    "duplicate_custom_id": "The custom_id of each request in a batch has to be its own.",
    "mismatched_model": "All requests in a batch have to be for one model.",
    "invalid_url": "The url of each request has to be the endpoint of its batch.",
    "empty_file": "The input file is empty.",
}


def read(request: HttpRequest, at: float) -> Received | None:
    """The request in a test's terms, or None where it is not about batches."""
    path = urlsplit(request.path.removeprefix("/elsewhere")).path
    for method, pattern, task in _TASKS:
        if request.method == method and re.fullmatch(pattern, path):
            return Received("openai", request.path, task, request.headers, request.body, at)
    return None


def reply(received: Received, batches: Batches) -> Response:  # noqa: PLR0911  # one for each task
    """What OpenAI says to it."""
    url = urlsplit(received.path.removeprefix("/elsewhere"))
    name = url.path.removeprefix("/v1/").split("/")[1:]
    match received.task:
        case "upload":
            return _upload(received, batches)
        case "create batch":
            return _create(received, batches)
        case "list batches":
            return _list(parse_qs(url.query), batches)
        case "download" if name[0] in batches.files:
            return Response(batches.files[name[0]], media_type="application/octet-stream")
        case "get batch" | "cancel batch" if name[0] in batches.all:
            batch = batches.all[name[0]]
            if received.task == "get batch":
                batch.polls += 1
            elif batch.end is None:
                batch.cancelled = True
                return json_response({**_shown(batch, batches), "status": "cancelling"})
            else:
                message = f"Cannot cancel a batch with status '{batch.end}'."
                return openai_wire.error(409, message)
            return json_response(_shown(batch, batches))
    return openai_wire.error(404, f"No such thing: {name[0]}.", param="id")


def _upload(received: Received, batches: Batches) -> Response:
    fields, (data,) = openai_wire.form(received.headers, received.body)
    if fields != {"purpose": "batch"}:
        raise ValueError(f"A file for a batch is uploaded with its purpose alone: {fields}")
    name = batches.keep(data, "file-")
    return json_response(
        {
            "id": name,
            "object": "file",
            "bytes": len(data),
            "created_at": _CREATED,
            "filename": "batch.jsonl",
            "purpose": "batch",
            "status": "processed",
        }
    )


def _create(received: Received, batches: Batches) -> Response:
    asked = json.loads(received.body)
    file, endpoint = asked["input_file_id"], asked["endpoint"]
    if file not in batches.files:
        return openai_wire.error(400, f"Cannot find file {file}.", param="file_id")
    if endpoint not in ENDPOINTS or asked["completion_window"] != "24h":
        return openai_wire.error(400, "Invalid value.", code="invalid_value", param="endpoint")
    lines = [json.loads(line) for line in batches.files[file].splitlines()]
    headers = {**received.headers, "content-type": "application/json"}
    requests = []
    for line in lines:
        body = json.dumps(line["body"]).encode()
        asks = openai_wire.read(HttpRequest("POST", endpoint, headers, body), received.at)
        assert asks
        assert line["method"] == "POST"
        requests.append((line["custom_id"], asks))
    batch = Batch(
        id=f"batch_{len(batches.all):06}",
        provider="openai",
        tag=(asked.get("metadata") or {}).get("counterfactory", ""),
        endpoint=endpoint,
        input_file=file,
        requests=requests,
        invalid=_invalid(lines, endpoint),
    )
    return json_response(_shown(batches.create(batch), batches))


def _invalid(lines: list[Mapping[str, Any]], endpoint: str) -> str:
    if not lines:
        return "empty_file"
    if len({line["custom_id"] for line in lines}) < len(lines):
        return "duplicate_custom_id"
    if {line["url"] for line in lines} != {endpoint}:
        return "invalid_url"
    return "" if len({line["body"]["model"] for line in lines}) == 1 else "mismatched_model"


def _list(query: Mapping[str, list[str]], batches: Batches) -> Response:
    """A page of batches, the latest first."""
    limit, after = int(query.get("limit", ["20"])[0]), query.get("after", [""])[0]
    ids = batches.latest("openai")
    rest = ids[ids.index(after) + 1 :] if after else ids
    page = [_shown(batches.all[name], batches) for name in rest[: min(limit, 100)]]
    return json_response(
        {
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": len(rest) > len(page),
        }
    )


def _shown(batch: Batch, batches: Batches) -> dict[str, Any]:
    """A batch as OpenAI shows it, its results made when it is first shown to be over."""
    if batch.end and not batch.files:
        _finish(batch, batches)
    problem = batch.invalid or "token_limit_exceeded"
    wrong = {"code": problem, "line": None, "message": _PROBLEMS[problem], "param": None}
    running = "in_progress" if batch.polls else "validating"
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "errors": {"object": "list", "data": [wrong]} if batch.end == "failed" else None,
        "input_file_id": batch.input_file,
        "completion_window": "24h",
        "status": batch.end or running,
        "output_file_id": batch.files.get("output"),
        "error_file_id": batch.files.get("error"),
        "created_at": _CREATED,
        "metadata": {"counterfactory": batch.tag} if batch.tag else None,
    }


def _finish(batch: Batch, batches: Batches) -> None:
    output: list[Mapping[str, Any]] = []
    errors: list[Mapping[str, Any]] = []
    why = {
        "code": f"batch_{batch.end}",
        "message": "This request could not be executed before the batch had ended.",
    }
    for i, (name, response) in enumerate(batches.answers(batch)):
        line: dict[str, Any] = {"id": f"batch_req_{i:06}", "custom_id": name}
        if response is None:
            errors.append({**line, "response": None, "error": why})
            continue
        body = {"status_code": response.status, "request_id": f"{i}", "body": said(response)}
        (output if response.status == 200 else errors).append(
            {**line, "response": body, "error": None}
        )
    if batch.end != "failed":
        for name, lines in (("output", output), ("error", errors)):
            if lines:
                batch.files[name] = batches.keep_lines(batch, lines, f"file-{name}-")
