"""Anthropic's wire format: messages and models."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.providers.http import HttpRequest, Response, json_response
from tests.providers.received import Received

MODELS = ("claude-sonnet-5-5",)


def read(request: HttpRequest, at: float) -> Received | None:
    """The request in a test's terms, or None where Anthropic has nothing at that path."""
    path = request.path.removeprefix("/elsewhere").partition("?")[0]
    if request.method == "GET" and path == "/v1/models" and "anthropic-version" in request.headers:
        return Received("anthropic", request.path, "models", request.headers, b"", at)
    if request.method != "POST" or path != "/v1/messages":
        return None
    body = json.loads(request.body)
    model, messages, system = body.pop("model"), body.pop("messages"), body.pop("system", None)
    texts, images = [] if system is None else [system], []
    for message in messages:
        content = message["content"]
        whole: list[Any] = [{"type": "text", "text": content}]
        parts = whole if isinstance(content, str) else content
        texts += [part["text"] for part in parts if part["type"] == "text"]
        images += [_decoded(part["source"]) for part in parts if part["type"] == "image"]
    return Received(
        "anthropic",
        request.path,
        "text",
        request.headers,
        request.body,
        at,
        model=model,
        texts=tuple(texts),
        images=tuple(images),
        parameters=body,
    )


def refused_parameter(received: Received) -> Response | None:
    """The error for a header or a parameter that is missing, or that the API does not have."""
    if "anthropic-version" not in received.headers:
        return error(400, "anthropic-version: header is required")
    if received.task == "text" and "max_tokens" not in received.parameters:
        return error(400, "max_tokens: Field required")
    for name in ("temperature", "top_p", "top_k"):
        if name in received.parameters:
            return error(400, f"{name}: Extra inputs are not permitted")
    return None


def models(names: Sequence[str], path: str, most: int | None) -> Response:
    """The list of models, at most `most` on a page."""
    after = parse_qs(urlsplit(path).query).get("after_id")
    start = names.index(after[0]) + 1 if after else 0
    shown = names[start:][:most]
    data = [
        {"type": "model", "id": name, "display_name": name, "created_at": "2026-09-29T00:00:00Z"}
        for name in shown
    ]
    more = start + len(shown) < len(names)
    return json_response(
        {"data": data, "has_more": more, "first_id": shown[0], "last_id": shown[-1]}
    )


def message(
    received: Received,
    served: str,
    content: list[dict[str, Any]],
    *,
    stop: str = "end_turn",
    details: Mapping[str, Any] | None = None,
    **cached: int,
) -> Response:
    """A reply; `cached` are the counts of tokens that went to the cache or came from there."""
    said = " ".join(block.get("text", block.get("thinking", "")) for block in content)
    tokens_in = sum(len(text.split()) for text in received.texts) + received.picture_tokens
    return json_response(
        {
            "id": f"msg_{received.digest[:24]}",
            "type": "message",
            "role": "assistant",
            "model": served,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "stop_details": details and {"type": "refusal", **details},
            "usage": {
                "input_tokens": tokens_in,
                "output_tokens": len(said.split()),
                "service_tier": "standard",
                **cached,
            },
        }
    )


def text_block(text: str) -> dict[str, Any]:
    """A part of a reply: text."""
    return {"type": "text", "text": text}


def thought(text: str) -> dict[str, Any]:
    """A part of a reply: what the model thought before it spoke."""
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}


def error(
    status: int,
    message: str,
    kind: str = "invalid_request_error",
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error in Anthropic's envelope; `code` names the cause where the API has a name for it."""
    body = {"type": kind, "message": message, **({"details": {"error_code": code}} if code else {})}
    whole = {"type": "error", "error": body, "request_id": "req_0123456789abcdef"}
    return json_response(whole, status, {"request-id": "req_0123456789abcdef", **(headers or {})})


def _decoded(source: Mapping[str, str]) -> bytes:
    if source["type"] != "base64" or not source["media_type"].startswith("image/"):
        raise ValueError(f"Not a picture in the message itself: {source['type']}")
    return base64.b64decode(source["data"], validate=True)
