"""What may not stand among the parameters of an entry, for each its reason."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_RESERVED = {
    **dict.fromkeys(
        ("model", "messages", "prompt", "contents", "input", "image", "images"),
        "since each request brings its own",
    ),
    **dict.fromkeys(
        ("n", "candidate_count", "num_return_sequences", "num_images_per_prompt", "best_of"),
        "since every request has one answer, and several samples are several requests",
    ),
    **dict.fromkeys(("stream", "stream_options"), "since an answer is taken whole"),
    **dict.fromkeys(("timeout", "max_retries"), "and set `deadline_s` in the entry"),
    "base_url": "and set `base_url` in the entry",
}
SECRET = re.compile(
    r"(?i).*(?:api[-_]?key|authorization|headers?|secret|password|http_?options)"
    r"|(?:.*(?:auth|access|hf)_)?token"
)
"""Names whose values may be secrets."""


def refused(parameters: Mapping[str, Any]) -> str | None:
    """Why parameters are not taken, and the remedy, without their values; None where they are."""
    for name, why in _RESERVED.items():
        if name in parameters:
            return f"has `{name}`: remove it, {why}"
    for name in _names_within(parameters):
        if SECRET.fullmatch(name):
            return (
                f"has `{name}`, which may carry a secret: remove it; `key` in the entry names the "
                "environment variable that holds the API key"
            )
    return None


def unfit(backend: object, parameters: Mapping[str, Any]) -> str | None:
    """Why a backend cannot be asked with parameters, and the remedy; None where it can."""
    if backend != "anthropic":
        return None
    for name in ("temperature", "top_p", "top_k"):
        if name in parameters:
            return f"has `{name}`: remove it, Anthropic's API has none (it samples at 1.0)"
    limit = parameters.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        return (
            "has no `max_tokens`, without which Anthropic takes no request: add it, as in "
            "{max_tokens: 32000}"
        )
    return None


def _names_within(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _names_within(item)
