"""What can go wrong between a client and a provider, each thing by its name.

`BY_NAME` holds them all. A fault knows which providers and tasks it makes sense for.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from email.utils import formatdate

from tests.providers import gemini_wire, openai_wire, pictures
from tests.providers.exchange import Exchange
from tests.providers.http import Delivery, Response
from tests.providers.received import ProviderName, Received, Task

Make = Callable[[Exchange], Response]
BY_NAME: dict[str, "Fault"] = {}


@dataclass(frozen=True)
class Fault:
    """A reply other than the one hoped for; equal to another of its name and duration."""

    name: str
    makes: dict[ProviderName, Make] = field(compare=False, repr=False)
    tasks: tuple[Task, ...] = field(default=("text", "picture", "models"), compare=False)
    seconds: float = 1.0

    def for_seconds(self, seconds: float) -> "Fault":
        """The same fault, lasting or asking to wait this long."""
        return replace(self, seconds=seconds)

    def suits(self, received: Received) -> bool:
        """Whether this can happen to such a request."""
        return received.provider in self.makes and received.task in self.tasks

    def reply(self, exchange: Exchange) -> Response:
        """What is sent."""
        if not self.suits(exchange.received):
            received = exchange.received
            raise TypeError(f"{self.name}: no such {received.task} reply of {received.provider}")
        make = self.makes[exchange.received.provider]
        return make(replace(exchange, seconds=self.seconds))


def _fault(
    name: str,
    both: Make | None = None,
    *,
    openai: Make | None = None,
    gemini: Make | None = None,
    tasks: tuple[Task, ...] = ("text", "picture", "models"),
) -> Fault:
    makes: dict[ProviderName, Make] = {}
    if openai := openai or both:
        makes["openai"] = openai
    if gemini := gemini or both:
        makes["gemini"] = gemini
    BY_NAME[name] = fault = Fault(name, makes, tasks)
    return fault


NORMAL = _fault("normal", lambda x: x.normal())

# Connections


def _delivered(delivery: Delivery) -> Make:
    return lambda x: replace(x.normal(), delivery=delivery)


SLOW = _fault("slow", lambda x: replace(x.normal(), delay=x.seconds))
DROPPED = _fault("dropped before the reply", _delivered("nothing"))
RESET = _fault("reset before the reply", _delivered("reset"))
HALF_HEADERS = _fault("dropped in the headers", _delivered("half the headers"))
HALF_BODY = _fault("dropped in the body", _delivered("half the body"))
DRIPPING = _fault("dripping", _delivered("dripping"))
REDIRECTED = _fault(
    "redirected",
    lambda x: Response(b"", 307, {"Location": f"/elsewhere{x.received.path}"}),
)

# Too much


def _rate_limited(x: Exchange, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if x.received.provider == "openai":
        return openai_wire.error(
            429,
            f"Rate limit reached for {x.served} on requests per min (RPM): Limit 3, Used 3, "
            "Requested 1. Please try again later.",
            "requests",
            "rate_limit_exceeded",
            headers=named,
        )
    return gemini_wire.error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.", None, named)


def _retry_info(x: Exchange) -> Response:
    info = {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": f"{x.seconds:g}s",
    }
    return gemini_wire.error(
        429,
        "RESOURCE_EXHAUSTED",
        f"You exceeded your current quota. Please retry in {x.seconds:g}s.",
        [info],
    )


def _date(seconds: float) -> str:
    return formatdate(math.ceil(time.time() + seconds), usegmt=True)


RATE_LIMITED = _fault("429", _rate_limited)
RETRY_AFTER = _fault("429 retry-after", lambda x: _rate_limited(x, Retry_After=f"{x.seconds:g}"))
RETRY_AFTER_MS = _fault(
    "429 retry-after-ms", lambda x: _rate_limited(x, retry_after_ms=f"{x.seconds * 1000:g}")
)
RETRY_AFTER_DATE = _fault(
    "429 retry-after date", lambda x: _rate_limited(x, Retry_After=_date(x.seconds))
)
RETRY_INFO = _fault("429 RetryInfo", gemini=_retry_info)

# The server's own troubles

SERVER_ERROR = _fault(
    "500",
    openai=lambda _: openai_wire.error(
        500, "The server had an error while processing your request.", "server_error"
    ),
    gemini=lambda _: gemini_wire.error(500, "INTERNAL", "An internal error has occurred."),
)
OVERLOADED = _fault(
    "503",
    openai=lambda _: openai_wire.error(
        503, "The engine is currently overloaded, please try again later.", "server_error"
    ),
    gemini=lambda _: gemini_wire.error(503, "UNAVAILABLE", "The model is overloaded."),
)
BAD_GATEWAY = _fault(
    "502 of a gateway",
    lambda _: Response(b"<html><h1>502 Bad Gateway</h1></html>", 502, media_type="text/html"),
)

# Whom and what the provider does not serve

NO_CREDIT = _fault(
    "no credit",
    openai=lambda _: openai_wire.error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
        "insufficient_quota",
    ),
)
INVALID_KEY = _fault(
    "invalid key",
    openai=lambda x: openai_wire.error(
        401, f"Incorrect API key provided: {x.received.key}.", code="invalid_api_key"
    ),
    gemini=lambda _: gemini_wire.error(
        400,
        "INVALID_ARGUMENT",
        "API key not valid. Please pass a valid API key.",
        [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
                "metadata": {"service": "generativelanguage.googleapis.com"},
            }
        ],
    ),
)
FORBIDDEN = _fault(
    "forbidden",
    openai=lambda _: openai_wire.error(
        403,
        "Country, region, or territory not supported",
        "request_forbidden",
        "unsupported_country_region_territory",
    ),
    gemini=lambda _: gemini_wire.error(
        403, "PERMISSION_DENIED", "Your API key was reported as leaked. Use another API key."
    ),
)
UNKNOWN_MODEL = _fault(
    "unknown model",
    openai=lambda x: openai_wire.error(
        404,
        f"The model `{x.served}` does not exist or you do not have access to it.",
        code="model_not_found",
    ),
    gemini=lambda x: gemini_wire.error(
        404, "NOT_FOUND", f"models/{x.served} is not found for API version v1beta."
    ),
)
INVALID_REQUEST = _fault(
    "invalid request",
    openai=lambda _: openai_wire.error(
        400, "Invalid value: 'enormous'.", code="invalid_value", param="size"
    ),
    gemini=lambda _: gemini_wire.error(
        400, "INVALID_ARGUMENT", "Invalid value at 'generation_config.temperature'."
    ),
)
TOO_LARGE = _fault(
    "413 of a gateway",
    lambda _: Response(
        b"<html><h1>413 Request Entity Too Large</h1></html>", 413, media_type="text/html"
    ),
)

# Replies that are not what was asked for

MALFORMED_JSON = _fault("malformed JSON", lambda x: replace(x.normal(), body=b'{"choices": [{'))
OTHER_SHAPE = _fault("another shape", lambda x: replace(x.normal(), body=b'{"ok": true}'))
WEB_PAGE = _fault(
    "web page", lambda _: Response(b"<html>Please log in.</html>", media_type="text/html")
)
NO_CANDIDATES = _fault(
    "no candidates",
    openai=lambda x: openai_wire.no_choices(x.received, x.served),
    gemini=lambda x: gemini_wire.reply(x.received, x.served, {}, 0),
    tasks=("text", "picture"),
)
NO_TEXT = _fault(
    "no text",
    openai=lambda x: openai_wire.completion(x.received, x.served, None),
    gemini=lambda x: gemini_wire.content(x.received, x.served, []),
    tasks=("text",),
)
CUT_OFF = _fault(
    "cut off",
    openai=lambda x: openai_wire.completion(x.received, x.served, '{"cut', finish="length"),
    gemini=lambda x: gemini_wire.content(
        x.received, x.served, [gemini_wire.text_part('{"cut')], finish="MAX_TOKENS"
    ),
    tasks=("text",),
)
PROSE = _fault("prose", lambda x: x.text("I would rather answer in prose."), tasks=("text",))
OTHER_SCHEMA = _fault("another schema", lambda x: x.text('{"unasked": 1}'), tasks=("text",))
NOT_A_PICTURE = _fault(
    "not a picture", lambda x: x.picture(pictures.NOT_A_PICTURE), tasks=("picture",)
)
TRUNCATED_PNG = _fault(
    "truncated PNG",
    lambda x: x.picture(pictures.truncated_png(x.received.digest)),
    tasks=("picture",),
)
WIDE_PNG = _fault("wide PNG", lambda x: x.picture(pictures.wide_png()), tasks=("picture",))
MISLABELLED = _fault(
    "JPEG called PNG",
    lambda x: x.picture(pictures.converted(pictures.png(x.received.digest), "jpeg")),
    tasks=("picture",),
)

# Refusals

REFUSED = _fault(
    "refused by the model",
    openai=lambda x: openai_wire.completion(
        x.received, x.served, None, refusal="I'm sorry, I can't help with that."
    ),
    tasks=("text",),
)
FILTERED = _fault(
    "content filter",
    openai=lambda x: openai_wire.completion(x.received, x.served, None, finish="content_filter"),
    tasks=("text",),
)
PROMPT_FILTERED = _fault(
    "400 content_filter",
    openai=lambda _: openai_wire.error(
        400,
        "The response was filtered due to the prompt triggering the content management policy.",
        code="content_filter",
        param="prompt",
    ),
)
INVALID_PROMPT = _fault(
    "400 invalid_prompt",
    openai=lambda _: openai_wire.error(
        400,
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        code="invalid_prompt",
    ),
    tasks=("text",),
)
CONTENT_POLICY = _fault(
    "400 content_policy_violation",
    openai=lambda _: openai_wire.error(
        400,
        "Your request was rejected as a result of our safety system.",
        code="content_policy_violation",
    ),
    tasks=("picture",),
)
MODERATION = _fault(
    "400 moderation_blocked",
    openai=lambda _: openai_wire.error(
        400,
        "Your request was rejected by the safety system. safety_violations=[violence].",
        "image_generation_user_error",
        "moderation_blocked",
    ),
    tasks=("picture",),
)
NO_PICTURES = _fault(
    "no pictures",
    openai=lambda x: openai_wire.picture(x.received, x.served, [], None),
    tasks=("picture",),
)
TEXT_FOR_PICTURE = _fault(
    "text instead of a picture",
    gemini=lambda x: x.text("I cannot draw that, but here is a description."),
    tasks=("picture",),
)


def _blocked(reason: str) -> Make:
    feedback = {"promptFeedback": {"blockReason": reason}}
    return lambda x: gemini_wire.reply(x.received, x.served, feedback, 0)


def _finished(reason: str) -> Make:
    return lambda x: gemini_wire.content(x.received, x.served, [], finish=reason)


PROMPT_BLOCKED = {
    reason: _fault(f"prompt blocked: {reason}", gemini=_blocked(reason))
    for reason in ("SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY")
}
"""By Gemini's `promptFeedback.blockReason`."""

FINISHED = {
    reason: _fault(f"finished: {reason}", gemini=_finished(reason), tasks=("text", "picture"))
    for reason in (
        "SAFETY",
        "RECITATION",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "OTHER",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "IMAGE_OTHER",
        "NO_IMAGE",
    )
}
"""By Gemini's `finishReason`, with no content."""
