"""Anthropic's Claude models, which write and look."""

import json
import re
from base64 import b64encode
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import httpx2
from pydantic import BaseModel

from resources.models.backends.base import PictureLoader
from resources.models.backends.hosted_models import (
    build_token_limit_fault,
    check_key,
    detect_media_type,
    find_parameter_fault,
    load_pictures,
    redact_key,
    to_connection_fault,
    to_status_fault,
)
from resources.models.backends.http_client import RestrictedClient, get_max_reply_bytes
from resources.models.backends.reply_schemas import (
    OptionalText,
    TokenCount,
    collect_pages,
    nested_field,
    parse_reply,
)
from resources.models.backends.thoughts import describe_thoughts
from resources.models.catalog import Model
from resources.models.model_lists import ListedModel
from resources.models.replies import (
    ModelReply,
    ModelUnavailable,
    NoAnswer,
    Refusal,
    RequestFault,
    UnacceptableRequest,
    Usage,
)
from resources.models.requests import LookRequest, Turn, WriteRequest

try:
    from anthropic import (
        APIConnectionError,
        APIStatusError,
        AsyncAnthropic,
        transform_schema,
    )
except ImportError as error:
    # Raised where a backend is made, which is where this module is imported.
    raise ModelUnavailable(
        f"The backend anthropic needs its SDK, which cannot be imported ({error}): install it with "
        "pip install 'counterfactory[anthropic]'"
    ) from None

_ADDRESS = "https://api.anthropic.com"
_VERSION = "2026-10-21"
"""The version of the API that the replies below are of. It has no temperature: it samples at 1."""

_NO_MONEY = re.compile(r"(?i)credit balance|usage limit|spend(?:ing)? limit")
"""Beginnings of 400 errors about the account, which have no code of their own."""
_CLOSED_CODES = frozenset(
    {"contract_spend_limit_reached", "enforced_spend_limit_reached", "organization_on_hold"}
)


class _Block(BaseModel):
    """A part of what a model says: text, or a thought, which may be kept back."""

    type: str
    text: OptionalText = None
    thinking: OptionalText = None


class _Message(BaseModel):
    """Anthropic's reply, as far as it is used."""

    content: list[_Block]
    model: OptionalText = None
    stop_reason: OptionalText = None
    category: OptionalText = nested_field("stop_details", "category")
    explanation: OptionalText = nested_field("stop_details", "explanation")
    input_tokens: TokenCount = nested_field("usage", "input_tokens")
    cache_creation: TokenCount = nested_field("usage", "cache_creation_input_tokens")
    cache_read: TokenCount = nested_field("usage", "cache_read_input_tokens")
    output_tokens: TokenCount = nested_field("usage", "output_tokens")
    thinking_tokens: TokenCount = nested_field("usage", "output_tokens_details", "thinking_tokens")


class Anthropic:
    """A Claude model. The parameters of models.yaml go into the body of each message."""

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        """Raise `ModelUnavailable` where the key cannot be one."""
        check_key(model, key)
        self._model, self._key, self._picture = model, key, picture
        credentials = {} if key is None else {"Authorization": f"Bearer {key}"}
        # The client below puts the key on each request: what the SDK does not hold, it can
        # neither take from the environment or a profile instead nor repeat in an exception.
        self._sdk = AsyncAnthropic(
            api_key="unused",
            base_url=next(iter(model.base_urls), _ADDRESS),
            max_retries=0,
            open_telemetry=False,
            http_client=RestrictedClient(
                model.concurrency,
                {**credentials, "anthropic-version": _VERSION},
                get_max_reply_bytes(model),
            ),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    async def write(self, request: WriteRequest) -> ModelReply:
        """Write text, to a schema where there is one; what is cut off is as in `look`.

        What the API's schemas cannot say (a largest number, a longest list) is put to the model in
        their descriptions; objects have no other fields than those that the schema names.
        """
        output_fields = {} if request.schema is None else self._format(request.schema)
        return await self._say(request.turns, output_fields)

    async def look(self, request: LookRequest) -> ModelReply:
        """Answer in text what is asked of pictures."""
        return await self._say(request.turns, {})

    async def list_models(self) -> list[ListedModel]:
        """The models that Anthropic has for this key, page by page."""
        return await collect_pages(self._get_models, "after_id")

    async def _get_models(self, query: Mapping[str, Any]) -> bytes:
        return await self._send(
            self._sdk.get("/v1/models", cast_to=httpx2.Response, options={"params": query})
        )

    def _format(self, schema: str) -> dict[str, Any]:
        try:
            json_schema = transform_schema(json.loads(schema))
        except ValueError as error:
            problem = f"{self._model.name} cannot be given the schema of this request: {error}"
        else:
            config = self._model.parameters.get("output_config", {})
            return {
                "output_config": {
                    **config,
                    "format": {"type": "json_schema", "schema": json_schema},
                }
            }
        raise UnacceptableRequest(problem)

    async def _say(self, turns: Sequence[Turn], output_fields: Mapping[str, Any]) -> ModelReply:
        system = "\n\n".join(turn.text for turn in turns if turn.role == "system")
        body = {
            **self._model.parameters,
            "model": self._model.model,
            **({"system": system} if system else {}),
            "messages": [await self._message(turn) for turn in turns if turn.role != "system"],
            **output_fields,
        }
        posted = self._sdk.post("/v1/messages", cast_to=httpx2.Response, body=body)
        answer = parse_reply(_Message, await self._send(posted))
        texts = [block.text or "" for block in answer.content if block.type == "text"]
        refusal = self._refusal(answer, empty=not texts)
        reply = ModelReply(
            text=None if refusal else "".join(texts),
            refusal=refusal,
            served_model=answer.model,
            usage=_usage(answer),
        )
        thoughts = [block.thinking for block in answer.content if "thinking" in block.type]
        return reply.with_provenance(describe_thoughts(thoughts, answer.thinking_tokens))

    def _refusal(self, answer: _Message, *, empty: bool) -> Refusal | None:
        """Build the refusal of a filtered answer; raises the fault of one that holds no text."""
        if answer.stop_reason == "refusal":
            words = ["stop_reason: refusal.", answer.category, answer.explanation]
            return Refusal("content filter", " ".join(filter(None, words)))
        if not empty:
            return None
        if answer.stop_reason == "max_tokens":
            raise build_token_limit_fault(self._model, "max_tokens")
        if answer.stop_reason == "model_context_window_exceeded":
            raise UnacceptableRequest(
                f"The request leaves {self._model.name} no room to answer: it fills the window of "
                "the model. Choose one with a larger window"
            )
        problem = f"The reply holds no text (stop_reason: {answer.stop_reason})."
        raise NoAnswer(problem, answer.model, _usage(answer))

    async def _message(self, turn: Turn) -> dict[str, Any]:
        if not turn.images:
            return {"role": turn.role, "content": turn.text}
        shown = [_image(data) for data in await load_pictures(turn.images, self._picture)]
        return {"role": turn.role, "content": [*shown, {"type": "text", "text": turn.text}]}

    async def _send(self, call: Awaitable[httpx2.Response]) -> bytes:
        problem: RequestFault
        try:
            return (await call).content
        except APIStatusError as error:
            problem = self._fault(error)
        except APIConnectionError as error:
            problem = to_connection_fault(error.__cause__ or error, self._key)
        # Out here, where no exception that holds the request is chained to this one.
        raise problem

    def _fault(self, error: APIStatusError) -> RequestFault:
        status, words = (
            error.status_code,
            redact_key(error.api_message or error.body or "", self._key),
        )
        closed = ModelUnavailable(f"HTTP {status}: {words}")
        if error.error_code in _CLOSED_CODES:
            return closed
        if status == 400 and _NO_MONEY.search(words):
            return closed
        refused = find_parameter_fault(status, words, words.lstrip("`'\""), self._model.parameters)
        return refused or to_status_fault(status, words, error.response.headers, self._key)


def _image(data: bytes) -> dict[str, Any]:
    encoded = b64encode(data).decode("ascii")
    source = {"type": "base64", "media_type": detect_media_type(data), "data": encoded}
    return {"type": "image", "source": source}


def _usage(spent: _Message) -> Usage:
    """Count all input tokens: Anthropic counts those of the cache apart from the others."""
    if spent.input_tokens is None:
        return Usage(None, spent.output_tokens)
    cached = (spent.cache_creation or 0) + (spent.cache_read or 0)
    return Usage(spent.input_tokens + cached, spent.output_tokens)
