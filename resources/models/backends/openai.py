"""OpenAI, and the many servers that speak as it does: vLLM, SGLang, Ollama, LM Studio."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from pydantic import BaseModel, Field

from resources.models.backends.base import PictureOf
from resources.models.backends.wire import careful_client, data_url, fault, shaped, without_key
from resources.models.catalog import Model
from resources.models.replies import (
    Closed,
    Fault,
    Interrupted,
    Refusal,
    RefusalKind,
    Reply,
    Unacceptable,
    Usage,
)
from resources.models.requests import Look, Turn, Write

_ADDRESS = "https://api.openai.com/v1"
_CLOSED_CODES = frozenset(
    {
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_quota",
        "invalid_api_key",
        "model_not_found",
        "unsupported_model",
    }
)
_FILTER_CODES: Mapping[str, RefusalKind] = {
    "content_filter": "content filter",
    "content_policy_violation": "content filter",
    "contentFilter": "content filter",
    "invalid_prompt": "content filter",
    "moderation_blocked": "image safety",
}

Shape = TypeVar("Shape", bound=BaseModel)


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: _Tokens | None = None


class OpenAI:
    """A model behind OpenAI's API, or behind a server that speaks it at `base_url`.

    The parameters of models.yaml go into the body as they are, so that those of other servers work
    as well. Bodies are read by shapes of our own, which ask for no more than is used: servers
    differ in the rest.
    """

    def __init__(self, model: Model, key: str | None, picture: PictureOf) -> None:
        self._model, self._key, self._picture = model, key, picture
        credentials = {} if key is None else {"Authorization": f"Bearer {key}"}
        # The key is set on each request by the client below: what the SDK does not hold, no
        # environment variable replaces and no exception of its own repeats.
        self._sdk = AsyncOpenAI(
            api_key="unused",
            base_url=model.base_url or _ADDRESS,
            max_retries=0,
            http_client=careful_client(model.concurrency, credentials),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    async def write(self, request: Write) -> Reply:
        """Write text, to a schema where there is one; raises `Unacceptable` as `look` does."""
        wanted = {} if request.schema is None else {"response_format": _format(request.schema)}
        return await self._chat(request.turns, wanted)

    async def look(self, request: Look) -> Reply:
        """Answer in text what is asked of pictures.

        An answer that the limit of tokens cut off is an answer, with the text there is. Where the
        limit left no text at all (a model that thinks can spend it all), sending the request again
        would be paid for again and end the same: it is `Unacceptable`, and names the remedy.
        """
        return await self._chat(request.turns, {})

    async def _chat(self, turns: Sequence[Turn], wanted: Mapping[str, Any]) -> Reply:
        messages = [await self._message(turn) for turn in turns]
        answer = await self._send(
            "/chat/completions", _Completion, {"messages": messages, **wanted}
        )
        if isinstance(answer, Refusal):
            return Reply(refusal=answer)
        choice, spent = answer.choices[0], answer.usage or _Tokens()
        text = choice.message.content or ""
        refusal = None
        if choice.message.refusal:
            refusal = Refusal("model", choice.message.refusal)
        elif choice.finish_reason == "content_filter":
            refusal = Refusal("content filter", f"finish_reason: content_filter {text}".strip())
        elif choice.finish_reason == "length" and not text:
            raise Unacceptable(
                f"{self._model.name} used up its limit of tokens before it wrote anything: raise "
                "max_completion_tokens (or max_tokens) in its parameters in models.yaml"
            )
        return Reply(
            text=None if refusal else text,
            refusal=refusal,
            served_model=answer.model,
            usage=Usage(spent.prompt_tokens, spent.completion_tokens),
        )

    async def _message(self, turn: Turn) -> dict[str, Any]:
        if not turn.images:
            return {"role": turn.role, "content": turn.text}
        pictures = [await asyncio.to_thread(self._picture, image) for image in turn.images]
        shown = [{"type": "image_url", "image_url": {"url": data_url(data)}} for data in pictures]
        return {"role": turn.role, "content": [*shown, {"type": "text", "text": turn.text}]}

    async def _send(
        self, path: str, shape: type[Shape], body: Mapping[str, Any]
    ) -> Shape | Refusal:
        problem: Fault
        try:
            response = await self._sdk.post(
                path,
                cast_to=httpx2.Response,
                body={**self._model.parameters, "model": self._model.model, **body},
            )
            return shaped(shape, response.content)
        except APIStatusError as error:
            refusal = self._refusal(error)
            if refusal is not None:
                return refusal
            problem = self._fault(error)
        except APIConnectionError as error:
            problem = Interrupted(self._words(error.__cause__ or error))
        # Outside of the handlers: no exception that holds the request is chained to this one.
        raise problem

    def _refusal(self, error: APIStatusError) -> Refusal | None:
        kind = _FILTER_CODES.get(error.code or "") if error.status_code == 400 else None
        return Refusal(kind, self._words(error.message)) if kind else None

    def _fault(self, error: APIStatusError) -> Fault:
        words = self._words(error.message.removeprefix(f"Error code: {error.status_code} - "))
        if {error.code, error.type} & _CLOSED_CODES:
            return Closed(f"HTTP {error.status_code}: {words}")
        return fault(error.status_code, words, error.response.headers)

    def _words(self, words: object) -> str:
        return without_key(words, self._key)


def _format(schema: str) -> dict[str, Any]:
    """The `response_format` that asks for JSON to a schema, strictly where the schema allows."""
    parsed = json.loads(schema)
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": _strict(parsed), "schema": parsed},
    }


def _strict(schema: Any) -> bool:
    """Whether every object of a schema is closed and requires all that it names."""
    if isinstance(schema, list):
        return all(map(_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        named = set(schema.get("properties", {}))
        closed = schema.get("additionalProperties") is False
        if not closed or named != set(schema.get("required", [])):
            return False
    return all(map(_strict, schema.values()))
