"""Refused parameters of an entry, each with its reason."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_RESERVED = {
    **dict.fromkeys(
        ("model", "messages", "prompt", "contents", "input", "image", "images"),
        "since each request brings its own",
    ),
    **dict.fromkeys(("stream", "stream_options"), "since an answer is taken whole"),
    **dict.fromkeys(("timeout", "max_retries"), "and set `deadline_s` in the entry"),
    "base_url": "and set `base_url` in the entry",
}
_SEVERAL = re.compile(
    r"n|bestof|(candidate|sample|image)count"
    r"|num(berof|of)?(samples|candidates|completions|generations|outputs|results|returnsequences"
    r"|images|imagesperprompt|videos)"
)
"""Parameters that make a provider bill several answers, as `_normalize_name` spells them."""
MAX_TOKENS = 10_000_000
"""Largest token limit: no model has more, and more would overflow what is booked."""
SECRET_NAME = re.compile(
    r"(?i).*(?:api[-_]?key|authorization|headers?|secret|password|http_?options)"
    r"|(?:.*(?:auth|access|hf)_)?token"
)
"""Names whose values may be secrets."""
_ENCODING = ("batch", "device", "dtype", "revision")
LIMIT_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "openai": ("max_completion_tokens", "max_tokens"),
    "openai_compatible": ("max_completion_tokens", "max_tokens"),
    "gemini": ("max_output_tokens", "maxOutputTokens"),
    "anthropic": ("max_tokens",),
    "transformers": ("max_new_tokens",),
}
"""Parameters that limit the length of an answer, by backend."""
THINKING_PARAMETERS = (
    *("reasoning_effort", "reasoning", "thinking", "thinking_config", "output_config"),
    "chat_template_kwargs",
)
"""Parameters that say how much a model thinks before it answers."""
_BUDGETS = ("thinking_budget", "budget_tokens", "thinking_token_budget")
_NO_THINKING = (
    *(("reasoning_effort", "none"), ("effort", "none"), ("type", "disabled")),
    *(("enable_thinking", False), ("thinking", False), ("enabled", False)),
)
_THINKING_WORDS = re.compile(r"(?i)thinking|reasoning|effort")


def find_refused_thinking(words: str, parameters: Mapping[str, Any]) -> str | None:
    """The parameter that a provider refuses, if its words are about thinking; else None."""
    if not _THINKING_WORDS.search(words):
        return None
    return next((name for name in THINKING_PARAMETERS if name in parameters), None)


def find_thinking_budget(parameters: Mapping[str, Any]) -> int | None:
    """The most tokens of thinking that parameters allow, 0 where it is off; None without a limit.

    >>> find_thinking_budget({"thinking": {"type": "enabled", "budget_tokens": 4096}})
    4096
    """
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            below = dict(value)
            if name == "reasoning":
                below["thinking_budget"] = below.pop("max_tokens", None)
            budget = find_thinking_budget(below)
            if budget is not None:
                return budget
        elif (name, value) in _NO_THINKING:
            return 0
        elif name in _BUDGETS and type(value) is int and value >= 0:
            return value
    return None


def find_reserved_parameter(parameters: Mapping[str, Any]) -> str | None:
    """Say why parameters are not taken, and the remedy, without their values; else None."""
    for name, why in _RESERVED.items():
        if name in parameters:
            return f"has `{name}`: remove it, {why}"
    for name in _iterate_names(parameters):
        if _SEVERAL.fullmatch(_normalize_name(name)):
            return (
                f"has `{name}`: remove it, since every request has one answer, and several samples "
                "are several requests"
            )
        if SECRET_NAME.fullmatch(name):
            return (
                f"has `{name}`, which may carry a secret: remove it; `key` in the entry names the "
                "environment variable that holds the API key"
            )
    return None


def read_token_limits(backend: object, parameters: Mapping[str, Any]) -> dict[str, int]:
    """The limits on the tokens of an answer that a backend passes on, by name: 100 for 100.0.

    Other spellings limit nothing, since nobody reads them. What is no whole number above 0 is no
    limit; some servers take -1 for none.
    """
    limits = {name: parameters.get(name) for name in LIMIT_PARAMETERS.get(str(backend), ())}
    return {
        name: int(value)
        for name, value in limits.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
        if value > 0 and value % 1 == 0
    }


def find_backend_problem(backend: object, parameters: Mapping[str, Any]) -> str | None:
    """Say why a backend cannot take parameters, and the remedy; None where it can."""
    for name, most in read_token_limits(backend, parameters).items():
        if most > MAX_TOKENS:
            return f"has a `{name}` that no model reaches: write at most {MAX_TOKENS:,}"
    if backend == "folder":
        return _explain_unfit_folder(parameters)
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


def find_encoder_problem(
    roles: Collection[str] | None, parameters: Mapping[str, Any]
) -> str | None:
    """Say why an entry that is an encoder alone has an unused parameter; else None."""
    if roles is None or set(roles) != {"encoder"}:
        return None
    for name in parameters:
        if name not in _ENCODING:
            return f"has `{name}`: remove it, an encoder takes {', '.join(_ENCODING)}"
    return None


def _explain_unfit_folder(parameters: Mapping[str, Any]) -> str | None:
    for name, value in parameters.items():
        if name != "seeds":
            return f"has `{name}`, which no picture in a folder is painted by: remove it"
        if not isinstance(value, bool):
            return "has `seeds`, which is true where the manifest has a seed for each picture"
    return None


def _normalize_name(name: str) -> str:
    """Unify spellings: `candidateCount`, `candidate_count` and `Candidate-Count` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _iterate_names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _iterate_names(item)
