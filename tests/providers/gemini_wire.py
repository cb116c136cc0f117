"""Gemini's wire format: generateContent and models."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.providers.http import HttpRequest, Response, json_response
from tests.providers.received import Received

MODELS = ("gemini-3-flash", "gemini-3-flash-image")


def read(request: HttpRequest, at: float) -> Received | None:
    """The request in a test's terms, or None where Gemini has nothing at that path."""
    path = request.path.removeprefix("/elsewhere").partition("?")[0]
    if "x-goog-api-key" in request.headers and path in ("/v1/models", "/v1beta/models"):
        return Received("gemini", request.path, "models", request.headers, b"", at)
    asked = re.fullmatch(r"/v1(?:beta)?/models/([^/:]+):generateContent", path)
    if request.method != "POST" or not asked:
        return None
    body = json.loads(request.body)
    instruction = body.pop("systemInstruction", {"parts": []})
    parts = [part for turn in (instruction, *body.pop("contents")) for part in turn["parts"]]
    pictures = [part["inlineData"]["data"] for part in parts if "inlineData" in part]
    modalities = body.get("generationConfig", {}).get("responseModalities", [])
    return Received(
        "gemini",
        request.path,
        "picture" if "IMAGE" in modalities or "image" in asked[1] else "text",
        request.headers,
        request.body,
        at,
        model=asked[1],
        texts=tuple(part["text"] for part in parts if "text" in part),
        images=tuple(base64.b64decode(data, altchars=_either(data)) for data in pictures),
        parameters=body,
    )


def models(names: Sequence[str], path: str, most: int | None) -> Response:
    """The list of models, at most `most` on a page; one that embeds answers no request here."""
    token = parse_qs(urlsplit(path).query).get("pageToken", ["0"])
    start = int(token[0])
    shown = names[start:][:most]
    ends = start + len(shown)
    more = {"nextPageToken": str(ends)} if ends < len(names) else {}
    return json_response(
        {
            "models": [
                {
                    "name": f"models/{name}",
                    "version": "001",
                    "displayName": name,
                    "inputTokenLimit": 1_000_000,
                    "outputTokenLimit": 65_536,
                    "supportedGenerationMethods": [
                        "embedContent" if "embedding" in name else "generateContent"
                    ],
                }
                for name in shown
            ],
            **more,
        }
    )


def content(
    received: Received, served: str, parts: list[dict[str, Any]], *, finish: str = "STOP"
) -> Response:
    """A reply of one candidate; one without parts has no content at all."""
    said = {"content": {"role": "model", "parts": parts}} if parts else {}
    stopped = {} if finish == "STOP" else {"finishMessage": f"The model stopped: {finish}."}
    candidate = {**said, "finishReason": finish, "index": 0, **stopped}
    return reply(received, served, {"candidates": [candidate]}, _out(parts))


def reply(received: Received, served: str, fields: Mapping[str, Any], tokens_out: int) -> Response:
    """A reply of any content, with what every reply has."""
    tokens_in = sum(len(text.split()) for text in received.texts) + received.picture_tokens
    counted = {"candidatesTokenCount": tokens_out} if tokens_out else {}
    usage = {"promptTokenCount": tokens_in, **counted, "totalTokenCount": tokens_in + tokens_out}
    rest = {"modelVersion": served, "responseId": received.digest[:22]}
    return json_response({**fields, "usageMetadata": usage, **rest})


def text_part(text: str) -> dict[str, Any]:
    """A part of a reply: text."""
    return {"text": text}


def picture_part(data: bytes, media_type: str = "image/png") -> dict[str, Any]:
    """A part of a reply: a picture, and what it is said to be."""
    return {"inlineData": {"mimeType": media_type, "data": base64.b64encode(data).decode()}}


def refused_parameter(received: Received) -> Response | None:
    """Never an error: this stand-in takes every parameter of Gemini's."""
    return None


def size(received: Received) -> tuple[int, int]:
    """16 times the aspect ratio that was asked for, in pixels; 64 x 64 where it was left open."""
    wanted = received.parameters.get("generationConfig", {}).get("imageConfig", {})
    asked = re.fullmatch(r"(\d+):(\d+)", wanted.get("aspectRatio", ""))
    return (16 * int(asked[1]), 16 * int(asked[2])) if asked else (64, 64)


def error(
    code: int,
    status: str,
    message: str,
    details: list[dict[str, Any]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error in Google's envelope."""
    more = {"details": details} if details else {}
    return json_response(
        {"error": {"code": code, "message": message, "status": status, **more}}, code, headers
    )


def _either(data: str) -> bytes:
    """The two characters that differ between the alphabets of base64: both are accepted."""
    return b"-_" if "-" in data or "_" in data else b"+/"


def _out(parts: list[dict[str, Any]]) -> int:
    return sum(len(part["text"].split()) if "text" in part else 1000 for part in parts)
