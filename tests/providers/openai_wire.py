"""OpenAI's wire format: chat completions, images and models.

The same chat endpoint stands for servers that are compatible with OpenAI's.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.providers.http import HttpRequest, Response, json_response
from tests.providers.received import Received

MODELS = ("gpt-5-mini", "gpt-image-1.5")
_CREATED = 1_760_000_000


def read(request: HttpRequest, at: float) -> Received | None:
    """The request in a test's terms, or None where OpenAI has nothing at that path."""

    def received(**fields: Any) -> Received:
        return Received("openai", request.path, headers=request.headers, at=at, **fields)

    match request.method, request.path.removeprefix("/elsewhere").partition("?")[0]:
        case "GET", "/v1/models":
            return received(task="models", body=b"")
        case "POST", "/v1/chat/completions":
            body = json.loads(request.body)
            texts, images = _messages(body.pop("messages"))
            model = body.pop("model")
            return received(
                task="text",
                body=request.body,
                model=model,
                texts=texts,
                images=images,
                parameters=body,
            )
        case "POST", "/v1/images/generations":
            body = json.loads(request.body)
            model, prompt = body.pop("model"), body.pop("prompt")
            return received(
                task="picture", body=request.body, model=model, texts=(prompt,), parameters=body
            )
        case "POST", "/v1/images/edits":
            if request.headers["content-type"] == "application/json":
                fields = json.loads(request.body)
                images = tuple(_picture(each["image_url"]) for each in fields.pop("images"))
            else:
                fields, images = form(request.headers, request.body)
            model, prompt = fields.pop("model"), fields.pop("prompt")
            return received(
                task="picture",
                body=request.body,
                model=model,
                texts=(prompt,),
                images=images,
                parameters=fields,
            )
    return None


def models(names: Sequence[str], path: str, most: int | None, owner: str = "system") -> Response:
    """The list of models: all at once, as OpenAI sends it, or `most` on a page."""
    after = parse_qs(urlsplit(path).query).get("after")
    start = names.index(after[0]) + 1 if after else 0
    shown = names[start:][:most]
    data = [
        {"id": name, "object": "model", "created": _CREATED, "owned_by": owner} for name in shown
    ]
    more = {} if most is None else {"has_more": start + len(shown) < len(names)}
    return json_response({"object": "list", "data": data, **more})


def completion(
    received: Received,
    served: str,
    text: str | None,
    *,
    refusal: str | None = None,
    finish: str = "stop",
) -> Response:
    """A chat completion with one choice."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        "refusal": refusal,
        "annotations": [],
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return json_response(_completion(received, served, text or refusal or "", [choice]))


def no_choices(received: Received, served: str) -> Response:
    """A chat completion without any choice."""
    return json_response(_completion(received, served, "", []))


def picture(received: Received, served: str, data: list[bytes], url: str | None) -> Response:
    """Images: as base64, or, from DALL-E where it was not asked otherwise, at `url`.

    Only GPT Image models count tokens and name the format and the size; only DALL-E says how it
    has changed the prompt.
    """
    if not is_dall_e(received):
        tokens_in, tokens_out = _tokens(*received.texts) + received.picture_tokens, 1000
        return json_response(
            {
                "created": _CREATED,
                "background": "opaque",
                "output_format": received.parameters.get("output_format", "png"),
                "quality": received.parameters.get("quality", "medium"),
                "size": received.parameters.get("size", "64x64"),
                "data": [{"b64_json": base64.b64encode(one).decode()} for one in data],
                "usage": {
                    "input_tokens": tokens_in,
                    "input_tokens_details": {
                        "text_tokens": _tokens(*received.texts),
                        "image_tokens": received.picture_tokens,
                    },
                    "output_tokens": tokens_out,
                    "total_tokens": tokens_in + tokens_out,
                },
            }
        )
    revised = (
        {"revised_prompt": f"{received.texts[0]}, revised"} if received.model == "dall-e-3" else {}
    )
    items = [{"url": url} if url else {"b64_json": base64.b64encode(one).decode()} for one in data]
    return json_response({"created": _CREATED, "data": [item | revised for item in items]})


def is_dall_e(received: Received) -> bool:
    """Whether DALL-E is asked, whose replies differ."""
    return received.model.startswith("dall-e")


def gives_url(received: Received) -> bool:
    """Whether the picture is to be fetched from a URL."""
    return is_dall_e(received) and received.parameters.get("response_format", "url") == "url"


def refused_parameter(received: Received) -> Response | None:
    """The error for a parameter that only DALL-E has, if another model is given it."""
    for name in ("response_format", "style"):
        if received.task == "picture" and name in received.parameters and not is_dall_e(received):
            message = f"Unknown parameter: '{name}'."
            return error(400, message, code="unknown_parameter", param=name)
    return None


def size(received: Received) -> tuple[int, int]:
    """Width and height that were asked for, in pixels; 64 x 64 where it was left open."""
    asked = re.fullmatch(r"(\d+)x(\d+)", str(received.parameters.get("size", "")))
    return (int(asked[1]), int(asked[2])) if asked else (64, 64)


def error(
    status: int,
    message: str,
    kind: str = "invalid_request_error",
    code: str | None = None,
    *,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """An error in OpenAI's envelope."""
    body = {"message": message, "type": kind, "param": param, "code": code, **more}
    return json_response(
        {"error": body}, status, {"x-request-id": "req_0123456789abcdef", **(headers or {})}
    )


def _completion(
    received: Received, served: str, said: str, choices: list[dict[str, Any]]
) -> dict[str, Any]:
    tokens_in, tokens_out = _tokens(*received.texts) + received.picture_tokens, _tokens(said)
    return {
        "id": f"chatcmpl-{received.digest[:24]}",
        "object": "chat.completion",
        "created": _CREATED,
        "model": served,
        "choices": choices,
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _tokens(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)


def _messages(messages: list[dict[str, Any]]) -> tuple[tuple[str, ...], tuple[bytes, ...]]:
    texts: list[str] = []
    images: list[bytes] = []
    for message in messages:
        content = message["content"]
        parts: list[dict[str, Any]] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        for part in parts:
            if part["type"] == "text":
                texts.append(part["text"])
            else:
                images.append(_picture(part["image_url"]["url"]))
    return tuple(texts), tuple(images)


def _picture(url: str) -> bytes:
    head, _, data = url.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise ValueError(f"Not a data URI of a picture: {head[:80]}")
    return base64.b64decode(data, validate=True)


def form(headers: Mapping[str, str], body: bytes) -> tuple[dict[str, str], tuple[bytes, ...]]:
    """The fields and the files of a form, a mask last."""
    boundary = headers["content-type"].partition("boundary=")[2].strip('"')
    fields: dict[str, str] = {}
    images: list[bytes] = []
    masks: list[bytes] = []
    for part in body.split(f"--{boundary}".encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        content = content.removesuffix(b"\r\n")
        name = re.search(rb'name="([^"]*)"', head)
        assert name, head
        if b"filename=" not in head:
            fields[name[1].decode()] = content.decode()
        else:
            (masks if name[1] == b"mask" else images).append(content)
    return fields, (*images, *masks)
