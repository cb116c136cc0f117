"""What a fault of a provider or a server means, and the remedy, in one sentence."""

import re
from collections.abc import Callable, Iterable, Mapping
from textwrap import shorten
from typing import Literal, NamedTuple, TypeAlias

from generators.name_suggestions import find_similar
from resources.models.backend_names import LOCAL_BACKENDS
from resources.models.catalog import Model

Cause: TypeAlias = Literal[
    "setup",
    "key",
    "permission",
    "credit",
    "rate",
    "proxy",
    "certificate",
    "web page",
    "connection",
    "redirect",
    "vision",
    "context",
    "limit",
    "parameter",
    "schema",
    "model",
    "server",
    "deadline",
    "other",
]
HOPELESS: frozenset[Cause] = frozenset(
    {
        "setup",
        "key",
        "credit",
        "proxy",
        "certificate",
        "web page",
        "connection",
        "redirect",
        "deadline",
    }
)
"""Causes for which no request to the same address and key will be answered."""

_PROVIDERS: Mapping[str, str] = {
    "openai": "OpenAI",
    "gemini": "Gemini",
    "anthropic": "Anthropic",
}
_LONGEST_WORDS = 220
_THINKING = r"used up its limit of tokens"
_NO_PICTURES = (
    r"image input|input_image|unknown variant .?image_url|image_url\W.{0,60}support"
    r"|support.{0,60}image_url|(type|expected)\W.{0,30}image_url"
    r"|not a multi-?modal|multi-?modal\w* (input )?(is|are) not"
    r"|mmproj|image modality|at most 0 image|images? (are|is) not supported"
    r"|(does not|doesn't|not) support (images?|vision)"
    r"|vision is not|vision not"
)


def name_server(model: Model) -> str:
    """The address of an entry's server, or the name of its provider."""
    return " or ".join(model.base_urls) or _PROVIDERS.get(model.backend, model.backend)


class Explanation(NamedTuple):
    """A cause, and a sentence with the remedy and the provider's words."""

    cause: Cause
    sentence: str


class _Fault(NamedTuple):
    """An error, in the provider's words, and the entry that was asked."""

    model: Model
    words: str
    has_picture: bool
    listed_ids: tuple[str, ...]

    @property
    def server(self) -> str:
        """The address of the server, or the provider's name."""
        return name_server(self.model)

    def has(self, pattern: str) -> bool:
        """Return whether the words match a pattern."""
        return re.search(pattern, self.words, re.IGNORECASE) is not None


def explain_fault(
    model: Model, words: str, *, has_picture: bool = False, listed_ids: Iterable[str] = ()
) -> Explanation:
    """Explain an error of an entry's provider; `listed_ids` are the models that it lists."""
    fault = _Fault(model, words, has_picture, tuple(listed_ids))
    is_local = model.backend in LOCAL_BACKENDS and not fault.has(_THINKING)
    cause = "other" if is_local else next(cause for cause, holds in _CAUSES if holds(fault))
    quoted = shorten(words.rstrip("."), _LONGEST_WORDS, placeholder="…")
    remedy = _REMEDIES[cause](fault)
    return Explanation(cause, f"{remedy} ({quoted})." if quoted not in remedy else f"{remedy}.")


def explain_missing_key(model: Model) -> Explanation:
    """Explain that the variable of an entry's key is not set."""
    name = model.key_variable
    return Explanation(
        "key", f"{name} is not set: put the API key into it, or add a line {name}=… to .env."
    )


_CAUSES: tuple[tuple[Cause, Callable[[_Fault], bool]], ...] = (
    ("setup", lambda fault: fault.has(r"needs its SDK|a character that no key has")),
    ("limit", lambda fault: fault.has(_THINKING)),
    ("deadline", lambda fault: fault.has(r"no whole reply within|no answer within")),
    ("proxy", lambda fault: fault.has(r"HTTP 407|ProxyError|proxy authentication")),
    ("certificate", lambda fault: fault.has(r"\bSSL\b|SSL:|certificate|\bTLS\b")),
    ("redirect", lambda fault: fault.has(r"the server redirects")),
    (
        "connection",
        lambda fault: fault.has(r"^(Connect|Pool|Read|Write|RemoteProtocol|LocalProtocol)\w*:"),
    ),
    (
        "context",
        lambda fault: fault.has(
            r"context (length|window|size)|maximum model length|max_model_len|too long"
            r"|maximum allowed length|fills the window|reduce the length"
        ),
    ),
    ("vision", lambda fault: fault.has_picture and fault.has(_NO_PICTURES)),
    ("server", lambda fault: fault.has(r"^HTTP 5(0[0-2]|04)")),
    ("web page", lambda fault: fault.has(r"<html|<!doctype|not what this API sends: the body")),
    ("key", lambda fault: fault.has(r"HTTP 401|api key not valid|invalid_api_key")),
    ("permission", lambda fault: fault.has(r"HTTP 403")),
    (
        "rate",
        lambda fault: fault.has(r"HTTP (429|503|529)\b.*(retry in|rate limit|per min|overloaded)"),
    ),
    (
        "credit",
        lambda fault: fault.has(r"HTTP 402|quota|billing|credit|spend(ing)? limit|usage limit"),
    ),
    ("rate", lambda fault: fault.has(r"HTTP (429|503|529)")),
    (
        "parameter",
        lambda fault: fault.has(r"is set in models\.yaml|has the parameter|unsupported parameter"),
    ),
    ("schema", lambda fault: fault.has(r"response_format|json_?schema|guided|structured|schema")),
    ("model", lambda fault: fault.has(r"HTTP 404|model.{0,80}(not found|does not exist)")),
    ("other", lambda fault: True),
)
"""Causes with their signs; the first that fits counts."""


def _key(fault: _Fault) -> str:
    variable = fault.model.key_variable
    if variable is None:
        return (
            f"{fault.server} wants an API key: write `key: MY_SERVER_KEY` in the entry, and set "
            "that variable to the server's key (vLLM: --api-key)"
        )
    return f"{fault.server} refuses the key in {variable}: set {variable} to a valid one"


def _model(fault: _Fault) -> str:
    name, listed_ids = fault.model.model, fault.listed_ids
    if listed_ids and name not in listed_ids:
        similar = find_similar(name, listed_ids)
        meant = f"did you mean {similar[0]}? Correct `model`" if similar else "correct `model`"
        return f"{fault.server} has no model {name}: {meant}, or see `counterfactory models`"
    if fault.model.base_urls:
        return (
            f"{fault.server} has no {name}, or no API of OpenAI's there: correct `model`, or "
            "`base_url`, which mostly ends in /v1"
        )
    return f"{fault.server} has no model {name}: correct `model` (`counterfactory models` lists)"


def _certificate(fault: _Fault) -> str:
    if fault.has("WRONG_VERSION|RECORD_LAYER"):
        return f"{fault.server} speaks no TLS: write http:// in base_url"
    return (
        f"The certificate of {fault.server}, or of a proxy before it, is not trusted: set "
        "SSL_CERT_FILE to a file that has its authority"
    )


def _parameter(fault: _Fault) -> str:
    return f"{fault.server} does not take a parameter of {fault.model.name}: correct it"


_REMEDIES: Mapping[Cause, Callable[[_Fault], str]] = {
    "key": _key,
    "permission": lambda fault: (
        f"{fault.server} does not let this key use {fault.model.model}: allow it there, or take "
        "another key or model"
    ),
    "credit": lambda fault: (
        f"{fault.server} answers nothing without credit or quota: pay in there, or use another key"
    ),
    "rate": lambda fault: (
        f"{fault.server} takes fewer requests for now: wait a minute, or set requests_per_minute "
        "to its limit"
    ),
    "proxy": lambda fault: (
        f"A proxy stands before {fault.server} and wants a login: put it into HTTPS_PROXY "
        "(http://name:password@host:port), or the server's host into NO_PROXY"
    ),
    "certificate": _certificate,
    "setup": lambda fault: fault.words.rstrip("."),
    "redirect": lambda fault: fault.words.rstrip("."),
    "web page": lambda fault: (
        f"{fault.server} sends a web page in place of an answer: log in at the proxy before it, or "
        "correct base_url, which mostly ends in /v1"
    ),
    "connection": lambda fault: (
        f"{fault.server} cannot be reached: start the server, or correct base_url or the proxy"
        if fault.model.base_urls
        else f"{fault.server} cannot be reached: check the network, and HTTPS_PROXY if you need one"
    ),
    "vision": lambda fault: (
        f"{fault.model.model} takes no pictures there: serve it with its vision part, take a "
        "vision-language model, or leave the roles that look out"
    ),
    "context": lambda fault: (
        f"{fault.model.model} has too small a window there for a picture and an answer: lower the "
        "limit on answers, or start the server with a larger one (vLLM: --max-model-len)"
    ),
    "limit": lambda fault: (
        f"{fault.model.name} spent its limit of tokens on thinking: raise the limit"
    ),
    "parameter": _parameter,
    "schema": lambda fault: (
        f"{fault.server} does not answer by a JSON Schema: update the server, or leave writer out "
        "of the roles"
    ),
    "model": _model,
    "server": lambda fault: (
        f"{fault.server} fails by itself: look into its log, or check again later"
    ),
    "deadline": lambda fault: (
        f"{fault.server} did not answer in time: see what it is busy with, or check again later"
    ),
    "other": lambda fault: (
        fault.words.rstrip(".")
        if fault.model.backend in LOCAL_BACKENDS
        else f"{fault.server} refuses the request"
    ),
}
