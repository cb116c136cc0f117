"""Google's Gemini models, which write, look, paint and edit through one method."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
from google.genai import Client, errors, types
from google.genai.client import DebugConfig
from pydantic import ValidationError

from resources.models.backends.base import PictureLoader
from resources.models.backends.hosted_models import (
    build_token_limit_fault,
    check_key,
    decode_base64_picture,
    detect_media_type,
    find_parameter_fault,
    load_pictures,
    redact_key,
    to_connection_fault,
    to_status_fault,
)
from resources.models.backends.http_client import RestrictedClient, get_max_reply_bytes
from resources.models.backends.reply_schemas import (
    GeminiPart,
    GeminiResponse,
    GoogleError,
    GoogleErrorEnvelope,
    parse_reply,
)
from resources.models.backends.thoughts import describe_thoughts
from resources.models.catalog import Model
from resources.models.model_lists import ListedModel
from resources.models.replies import (
    ModelReply,
    ModelUnavailable,
    NoAnswer,
    Overloaded,
    Refusal,
    RefusalKind,
    RequestFault,
    UnparsableReply,
    Usage,
)
from resources.models.requests import EditRequest, LookRequest, PaintRequest, Turn, WriteRequest

ADDRESS = "https://generativelanguage.googleapis.com"
VERSION = "v1beta"
"""The stable version has neither the preview models nor the aliases that end in -latest."""

_KINDS: Mapping[str, RefusalKind] = {
    "BLOCKLIST": "content filter",
    "ESCALATION": "content filter",
    "IMAGE_OTHER": "no image",
    "IMAGE_PROHIBITED_CONTENT": "image safety",
    "IMAGE_RECITATION": "image safety",
    "IMAGE_SAFETY": "image safety",
    "NO_IMAGE": "no image",
    "PROHIBITED_CONTENT": "content filter",
    "RECITATION": "content filter",
    "SAFETY": "content filter",
    "SPII": "content filter",
}
ERRORS = (errors.APIError, httpx2.HTTPError, httpx2.StreamError)
"""Exceptions that the SDK or its HTTP client raises when a request is sent."""
_METHOD = "generateContent"
_PAGE = 1000
_CUT_OFF = ("CONTINUATION", "MAX_TOKENS")
_LONGEST_WAIT = 20
"""Digits of the seconds that it asks to wait."""
_BANNED = "PUP_LIMITED_DISABLED"


class Gemini:
    """A Gemini model. The parameters of models.yaml are fields of `GenerateContentConfig`."""

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        """Raise `ModelUnavailable` for an impossible key, or a parameter that is unknown."""
        check_key(model, key)
        self._model, self._key, self._picture = model, key, picture
        try:
            config = types.GenerateContentConfig(**model.parameters)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field_path = ".".join(map(str, first["loc"]))
            raise ModelUnavailable(
                f"{model.name} has the parameter {field_path} in models.yaml, which Gemini does "
                f"not take: {first['msg']}. GenerateContentConfig of google-genai has their names."
            ) from None
        # The body is taken as it came. The SDK's own reading warns of what it does not know yet,
        # and asks again by itself where a reply is to be continued or calls a function.
        self._config = config.model_copy(
            update={
                "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
                "should_return_http_response": True,
            }
        )
        self._http = RestrictedClient(
            model.concurrency,
            {} if key is None else {"x-goog-api-key": key},
            get_max_reply_bytes(model),
            files=":download",
        )
        self._client = self._open_client(self._http)

    def _open_client(self, http: httpx2.AsyncClient) -> Client:
        """The SDK over an HTTP client; all that it would take from the environment is said here.

        The HTTP client puts the key on each request: what the SDK does not hold, no exception of
        it repeats.
        """
        return Client(
            api_key="unused",
            vertexai=False,
            debug_config=DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
            http_options=types.HttpOptions(
                base_url=next(iter(self._model.base_urls), ADDRESS),
                api_version=VERSION,
                retry_options=types.HttpRetryOptions(attempts=1),
                httpx_async_client=http,
            ),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        self._client.close()
        await self._http.aclose()

    async def write(self, request: WriteRequest | LookRequest) -> ModelReply:
        """Write text, to a schema where there is one, or look."""
        return self._parse_text(await self._send(self._client, request))

    async def paint(self, request: PaintRequest | EditRequest) -> ModelReply:
        """Make or change a picture; words that come without one are the reason of a refusal."""
        return self._parse_picture(await self._send(self._client, request))

    look, edit = write, paint

    async def list_models(self) -> list[ListedModel]:
        """The models that write, look or paint through this API, page by page."""
        try:
            config = types.ListModelsConfig(page_size=_PAGE)
            pager = await self._client.aio.models.list(config=config)
            return [
                ListedModel(
                    id=(model.name or "").removeprefix("models/"),
                    context_tokens=model.input_token_limit,
                    output_tokens=model.output_token_limit,
                )
                async for model in pager
                if _METHOD in (model.supported_actions or [_METHOD])
            ]
        except ERRORS as error:
            problem = self._fault(error)
        except (ValueError, AttributeError, TypeError) as error:
            words = redact_key(error, self._key)
            problem = UnparsableReply(f"The list of models is not what this API sends: {words}")
        # Out here, where no exception that holds the request is chained to this one.
        raise problem

    def _parse_text(self, body: str) -> ModelReply:
        response = parse_reply(GeminiResponse, body)
        parts = _parts(response)
        texts = [part.text for part in parts if part.text is not None]
        refusal = self._refusal(response, "content filter", empty=not any(texts))
        if refusal is None and not texts:
            raise _build_no_answer(response, "The reply holds no text (finishReason: STOP).")
        return _reply(response, text=None if refusal else "".join(texts), refusal=refusal)

    def _parse_picture(self, body: str) -> ModelReply:
        response = parse_reply(GeminiResponse, body)
        parts = _parts(response)
        drawn = [part.inline_data for part in parts if part.inline_data is not None]
        refusal = self._refusal(response, "no image", empty=not drawn)
        if refusal is None and not drawn:
            words = " ".join(part.text for part in parts if part.text)
            refusal = Refusal("no image", words or "The reply holds no picture.")
        if refusal is not None:
            return _reply(response, refusal=refusal)
        return _reply(
            response, pictures=(decode_base64_picture(drawn[0].data, drawn[0].mime_type),)
        )

    def _refusal(
        self, response: GeminiResponse, otherwise: RefusalKind, *, empty: bool
    ) -> Refusal | None:
        """Build the refusal of a blocked prompt, or of an answer that broke off or is empty."""
        blocked = response.block_reason
        if blocked is not None:
            words = f"blockReason: {blocked}. {response.block_reason_message}"
            return Refusal(_KINDS.get(blocked, "content filter"), words.strip())
        if not response.candidates:
            problem = "The reply is not what this API sends: it holds no candidate."
            raise _build_no_answer(response, problem)
        reason = response.candidates[0].finish_reason
        words = f"finishReason: {reason}. {response.candidates[0].finish_message}".strip()
        if reason == _BANNED:
            raise ModelUnavailable(words)
        if reason in _KINDS:
            return Refusal(_KINDS[reason], words)
        if not empty or reason == "STOP":
            return None
        if reason in _CUT_OFF:
            raise build_token_limit_fault(self._model, "max_output_tokens")
        if reason.startswith(("MALFORMED", "UNEXPECTED")):
            raise _build_no_answer(response, words)
        return Refusal(otherwise, words)

    async def _contents(self, turns: Sequence[Turn]) -> tuple[list[types.Content], dict[str, Any]]:
        """The turns of user and model, and the system's as the field of the configuration."""
        contents: list[types.Content] = []
        system: list[types.Part] = []
        for turn in turns:
            parts = [
                types.Part.from_bytes(data=data, mime_type=detect_media_type(data))
                for data in await load_pictures(turn.images, self._picture)
            ]
            parts.append(types.Part.from_text(text=turn.text))
            if turn.role == "system":
                system += parts
            else:
                role = "model" if turn.role == "assistant" else "user"
                contents.append(types.Content(role=role, parts=parts))
        return contents, {"system_instruction": types.Content(parts=system)} if system else {}

    async def _build_contents(
        self, request: WriteRequest | LookRequest | PaintRequest | EditRequest
    ) -> tuple[list[types.Content], dict[str, Any]]:
        """The contents of a request, and what it adds to the configuration."""
        if isinstance(request, PaintRequest | EditRequest):
            images = request.images if isinstance(request, EditRequest) else ()
            contents, _ = await self._contents([Turn("user", request.prompt, images)])
            return contents, {} if request.seed is None else {"seed": request.seed}
        contents, config_fields = await self._contents(request.turns)
        if isinstance(request, WriteRequest) and request.schema is not None:
            config_fields["response_mime_type"] = "application/json"
            config_fields["response_json_schema"] = json.loads(request.schema)
        return contents, config_fields

    async def _send(
        self, client: Client, request: WriteRequest | LookRequest | PaintRequest | EditRequest
    ) -> str:
        """The body of the reply to a request."""
        contents, config_fields = await self._build_contents(request)
        try:
            answer = await client.aio.models.generate_content(
                model=self._model.model,
                contents=contents,
                config=self._config.model_copy(update=config_fields),
            )
            http = answer.sdk_http_response
            return (http and http.body) or ""
        except (*ERRORS, UnicodeDecodeError) as error:
            problem = self._fault(error)
        except ValueError as error:
            problem = ModelUnavailable(
                f"{self._model.name} in models.yaml: {redact_key(error, self._key)}"
            )
        # Out here, where no exception that holds the request is chained to this one.
        raise problem

    def _fault(self, error: Exception) -> RequestFault:
        """Translate an exception of the SDK, or of its HTTP client."""
        if isinstance(error, errors.APIError):
            headers: Mapping[str, str] = getattr(error.response, "headers", {})
            return self._problem(error.code, error.details, headers)
        return to_connection_fault(error, self._key)

    def _problem(self, status: int, body: Any, headers: Mapping[str, str]) -> RequestFault:
        """Translate an error; `body` is Google's envelope, or another object with a message."""
        try:
            error = GoogleErrorEnvelope.model_validate(body).error
        except ValidationError:
            error_body = body.get("error", body) if isinstance(body, Mapping) else body
            words = error_body.get("message") if isinstance(error_body, Mapping) else error_body
            error = GoogleError(message=str(words or ""))
        words = redact_key(error.message, self._key)
        closed = ModelUnavailable(f"HTTP {status}: {words}")
        if status == 400:
            key_is_bad = any(detail.reason == "API_KEY_INVALID" for detail in error.details)
            if key_is_bad or error.status == "FAILED_PRECONDITION":
                return closed
        if status == 429:
            quotas = [quota.quota_id for detail in error.details for quota in detail.violations]
            delays = [
                re.fullmatch(r"(\d+(?:\.\d+)?)s", detail.retry_delay) for detail in error.details
            ]
            delays_s = [
                float(delay[1]) for delay in delays if delay and len(delay[1]) < _LONGEST_WAIT
            ]
            if any("PerDay" in quota for quota in quotas):
                return closed
            if delays_s:
                return Overloaded(f"HTTP 429: {words}", delays_s[0])
            if "billing" in words or "credit" in words:
                return closed
        refused = find_parameter_fault(status, words, "", self._model.parameters)
        return refused or to_status_fault(status, words, headers, self._key)


def _parts(response: GeminiResponse) -> list[GeminiPart]:
    """List an answer's parts, without thoughts, which can hold drafts of a picture."""
    parts = response.candidates[0].content.parts if response.candidates else []
    return [part for part in parts if not part.thought]


def _reply(response: GeminiResponse, **reply_fields: Any) -> ModelReply:
    """A reply with what all have."""
    reply = ModelReply(**reply_fields, served_model=response.model_version, usage=_usage(response))
    parts = response.candidates[0].content.parts if response.candidates else []
    thoughts = [part.text for part in parts if part.thought]
    return reply.with_provenance(describe_thoughts(thoughts, response.thoughts_token_count))


def _build_no_answer(response: GeminiResponse, problem: str) -> NoAnswer:
    return NoAnswer(problem, response.model_version, _usage(response))


def _usage(response: GeminiResponse) -> Usage:
    """Count tokens; thoughts are paid for as output."""
    out = [response.candidates_token_count, response.thoughts_token_count]
    counted = [tokens for tokens in out if tokens is not None]
    return Usage(response.prompt_token_count, sum(counted) if counted else None)
