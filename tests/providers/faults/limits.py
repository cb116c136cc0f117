"""Too many requests, and the ways of saying when to come again."""

import math
import time
from email.utils import formatdate

from tests.providers import anthropic_wire, gemini_wire, openai_wire
from tests.providers.exchange import Exchange
from tests.providers.faults.base import fault_called
from tests.providers.http import Response


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
    if x.received.provider == "anthropic":
        return anthropic_wire.error(
            429,
            "This request would exceed your organization's rate limit of 50 requests per minute.",
            "rate_limit_error",
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


RATE_LIMITED = fault_called("429", _rate_limited)
RETRY_AFTER = fault_called(
    "429 retry-after", lambda x: _rate_limited(x, Retry_After=f"{x.seconds:g}")
)
RETRY_AFTER_MS = fault_called(
    "429 retry-after-ms", lambda x: _rate_limited(x, retry_after_ms=f"{x.seconds * 1000:g}")
)
RETRY_AFTER_DATE = fault_called(
    "429 retry-after date", lambda x: _rate_limited(x, Retry_After=_date(x.seconds))
)
RETRY_INFO = fault_called("429 RetryInfo", gemini=_retry_info)
