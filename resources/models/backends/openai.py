"""OpenAI and compatible servers: vLLM, SGLang, Ollama, LM Studio, Azure."""

from base64 import b64encode
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI

from resources.models.backends.addresses import ForbiddenAddress, fetch_public_url
from resources.models.backends.base import PictureLoader
from resources.models.backends.engines import EngineFinder
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
from resources.models.backends.http_client import (
    MAX_PICTURE_REPLY_BYTES,
    ReplyTooLong,
    RestrictedClient,
    get_max_reply_bytes,
)
from resources.models.backends.reply_schemas import (
    ChatCompletion,
    ErrorReply,
    OpenAIImage,
    OpenAIImages,
    collect_pages,
    parse_reply,
)
from resources.models.backends.structured_output import build_response_format
from resources.models.backends.thoughts import describe_thoughts
from resources.models.catalog import Model
from resources.models.model_lists import ListedModel
from resources.models.replies import (
    ImageFile,
    Interrupted,
    ModelReply,
    ModelUnavailable,
    NoAnswer,
    Refusal,
    RefusalKind,
    RequestFault,
    UnacceptableRequest,
    UnparsableReply,
    Usage,
)
from resources.models.requests import EditRequest, LookRequest, PaintRequest, Turn, WriteRequest

_ADDRESS = "https://api.openai.com/v1"
CHAT = "/chat/completions"
GENERATIONS = "/images/generations"
EDITS = "/images/edits"
ERRORS = (APIStatusError, APIConnectionError, httpx2.HTTPError, httpx2.StreamError)
_AS_JSON = "response_format: b64_json in models.yaml avoids fetching it"
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
_ERROR_STATUSES = range(400, 600)
_FILTER_CODES: Mapping[str, RefusalKind] = {
    "content_filter": "content filter",
    "content_policy_violation": "content filter",
    "contentFilter": "content filter",
    "invalid_prompt": "content filter",
    "moderation_blocked": "image safety",
}


class Declined(UnacceptableRequest):
    """A refusal that comes as an error; where nothing is asked of a model, it is a fault."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class OpenAI:
    """A model behind OpenAI's API, or behind a server that speaks it at `base_url`.

    The parameters of models.yaml go into the body as they are, so that those of other servers work
    as well.
    """

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        """Raise `ModelUnavailable` where the key cannot be one."""
        check_key(model, key)
        self._model, self._key, self._picture = model, key, picture
        credentials = {} if key is None else {"Authorization": f"Bearer {key}"}
        # The client below puts the key on each request: what the SDK does not hold, it can
        # neither take from the environment instead nor repeat in an exception.
        self._sdk = AsyncOpenAI(
            api_key="unused",
            base_url=next(iter(model.base_urls), _ADDRESS),
            max_retries=0,
            http_client=RestrictedClient(
                model.concurrency, credentials, get_max_reply_bytes(model)
            ),
        )
        self._engines = (
            EngineFinder(str(self._sdk.base_url), partial(self._get, query={}))
            if model.backend == "openai_compatible"
            else None
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    async def write(self, request: WriteRequest | LookRequest | PaintRequest) -> ModelReply:
        """Write text, to a schema where there is one, or look; or paint: it takes no seed."""
        path, body = await self._build_body(request)
        conditions = await self._describe_server()
        reply = await self._reply(path, self._post(path, body))
        return reply.with_provenance(conditions)

    look = paint = write

    async def edit(self, request: EditRequest) -> ModelReply:
        """Change a picture, or join several, which are sent without the names of their files."""
        files = []
        for data in await load_pictures(request.images, self._picture):
            kind = detect_media_type(data)
            files.append(("image[]", (f"image.{kind.removeprefix('image/')}", data, kind)))
        if len(files) == 1:
            files = [("image", files[0][1])]
        body = {**self._model.parameters, "model": self._model.model, "prompt": request.prompt}
        conditions = await self._describe_server()
        reply = await self._reply(EDITS, self._post(EDITS, body, files))
        return reply.with_provenance(conditions)

    async def list_models(self) -> list[ListedModel]:
        """The models that the server has for this key, page by page."""
        return await collect_pages(lambda query: self._get("/models", query), "after")

    async def _describe_server(self) -> Mapping[str, Any]:
        """The engine of a server of one's own, for the provenance of its replies."""
        return {} if self._engines is None else {"engine": await self._engines.find()}

    async def _build_body(
        self, request: WriteRequest | LookRequest | PaintRequest
    ) -> tuple[str, dict[str, Any]]:
        """Build the path and the body of a request."""
        common = {**self._model.parameters, "model": self._model.model}
        if isinstance(request, PaintRequest):
            return GENERATIONS, {**common, "prompt": request.prompt}
        body = {**common, "messages": [await self._message(turn) for turn in request.turns]}
        if isinstance(request, WriteRequest) and request.schema is not None:
            body["response_format"] = build_response_format(request.schema)
        return CHAT, body

    async def _message(self, turn: Turn) -> dict[str, Any]:
        if not turn.images:
            return {"role": turn.role, "content": turn.text}
        shown = [
            {"type": "image_url", "image_url": {"url": build_data_url(data)}}
            for data in await load_pictures(turn.images, self._picture)
        ]
        return {"role": turn.role, "content": [*shown, {"type": "text", "text": turn.text}]}

    async def _reply(self, path: str, body: Awaitable[bytes]) -> ModelReply:
        """Parse a reply, refusals as well; raises as `parse_reply`, or `UnacceptableRequest`."""
        try:
            data = await body
            if path == CHAT:
                return self._parse_text(parse_reply(ChatCompletion, data))
            return await self._parse_picture(parse_reply(OpenAIImages, data))
        except Declined as declined:
            return ModelReply(refusal=declined.refusal)
        except ErrorReply as reply:
            fault = self._translate_error_reply(reply.error)
        raise fault

    def _parse_text(self, answer: ChatCompletion) -> ModelReply:
        choice = answer.choices[0]
        usage = Usage(answer.prompt_tokens, answer.completion_tokens)
        text, refusal = choice.message.content, None
        if choice.message.refusal:
            refusal = Refusal("model", choice.message.refusal)
        elif choice.finish_reason == "content_filter":
            refusal = Refusal(
                "content filter", f"finish_reason: content_filter. {text or ''}".strip()
            )
        elif choice.finish_reason == "length" and not text:
            raise build_token_limit_fault(self._model, "max_completion_tokens (or max_tokens)")
        elif text is None:
            problem = f"The reply holds no text (finish_reason: {choice.finish_reason})."
            raise NoAnswer(problem, answer.model, usage)
        reply = ModelReply(
            text=None if refusal else text,
            refusal=refusal,
            served_model=answer.model,
            usage=usage,
        )
        thoughts = choice.message.reasoning_content or choice.message.reasoning
        texts = [thoughts] if thoughts else []
        return reply.with_provenance(describe_thoughts(texts, answer.reasoning_tokens))

    async def _parse_picture(self, answer: OpenAIImages) -> ModelReply:
        usage = Usage(answer.input_tokens, answer.output_tokens)
        image = answer.data[0] if answer.data else OpenAIImage()
        if image.b64_json:
            claimed = f"image/{answer.output_format}" if answer.output_format else None
            return ModelReply(
                pictures=(decode_base64_picture(image.b64_json, claimed),), usage=usage
            )
        if image.url:
            return ModelReply(pictures=(await self._fetch(image.url),), usage=usage)
        return ModelReply(refusal=Refusal("no image", "The reply holds no picture."), usage=usage)

    async def _fetch(self, url: str) -> ImageFile:
        """A picture that a reply gives by its address, asked for without the key.

        It was paid for, yet it cannot be had again: a failure on the way is `UnparsableReply`, and
        `NoAnswer` where it will never be fetched. The address can be a signed one, so that messages
        name its host alone.
        """
        end: RequestFault
        async with RestrictedClient(1, {}, MAX_PICTURE_REPLY_BYTES) as client:
            try:
                response = await fetch_public_url(client, url, str(self._sdk.base_url))
            except ForbiddenAddress as why:
                end = NoAnswer(f"The picture was not fetched from {why} ({_AS_JSON})")
            except ReplyTooLong as why:
                end = NoAnswer(str(why))
            except httpx2.HTTPError as error:
                end = _build_fetch_error(type(error).__name__, url)
            else:
                if response.status_code == 200:
                    return ImageFile(response.content, response.headers.get("content-type"))
                end = _build_fetch_error(f"HTTP {response.status_code}", url)
        # Out here, where no exception that holds the request is chained to this one.
        raise end

    async def _post(self, path: str, body: Mapping[str, Any], files: Any = None) -> bytes:
        return await self._send(
            self._sdk.post(
                path,
                cast_to=httpx2.Response,
                body=body,
                files=files,
                options={"headers": {"Content-Type": "multipart/form-data"}} if files else {},
            )
        )

    async def _get(self, path: str, query: Mapping[str, Any]) -> bytes:
        return await self._send(
            self._sdk.get(path, cast_to=httpx2.Response, options={"params": query})
        )

    async def _send(self, call: Awaitable[httpx2.Response]) -> bytes:
        try:
            return (await call).content
        except ERRORS as error:
            fault = self._fault(error)
        # Out here, where no exception that holds the request is chained to this one.
        raise fault

    def _fault(self, error: Exception) -> RequestFault:
        """Translate an exception of the SDK, or of its HTTP client."""
        if isinstance(error, APIStatusError):
            return self._problem(error.status_code, error.body, error.response.headers)
        cause = error.__cause__ if isinstance(error, APIConnectionError) else None
        return to_connection_fault(cause or error, self._key)

    def _translate_error_reply(self, error: Any) -> RequestFault:
        """Translate an error that came as a good reply, by the status in it, as OpenRouter does."""
        code = error.get("code") if isinstance(error, Mapping) else None
        status = code if isinstance(code, int) and code in _ERROR_STATUSES else 200
        fault = self._problem(status, error, {})
        if isinstance(fault, Interrupted):
            fault.possibly_paid = True
        return fault

    def _problem(self, status: int, error_body: Any, headers: Mapping[str, str]) -> RequestFault:
        """Translate an error; `error_body` is the error in its body, or the body as text."""
        error = error_body if isinstance(error_body, Mapping) else {}
        words = redact_key(error.get("message") or error_body or "", self._key)
        code, kind = str(error.get("code")), str(error.get("type"))
        if status == 400 and code in _FILTER_CODES:
            return Declined(Refusal(_FILTER_CODES[code], words))
        if {code, kind} & _CLOSED_CODES:
            return ModelUnavailable(f"HTTP {status}: {words}")
        refused = find_parameter_fault(
            status, words, str(error.get("param")), self._model.parameters
        )
        return refused or to_status_fault(status, words, headers, self._key)


def _build_fetch_error(why: str, url: str) -> UnparsableReply:
    host = httpx2.URL(url).host
    return UnparsableReply(f"{why}: the picture could not be fetched from {host} ({_AS_JSON})")


def build_data_url(data: bytes) -> str:
    """A picture within JSON."""
    return f"data:{detect_media_type(data)};base64,{b64encode(data).decode('ascii')}"
