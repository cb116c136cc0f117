"""Engines of servers that speak OpenAI's API: the program that answers, and its version.

The same weights answer otherwise in another engine, or in another version of it, so that a reply
says which one it is of. It is no part of a call's key: a server that is updated would have every
answer paid for again, and unasked. A step reports the change in its place.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from resources.models.backends.reply_schemas import to_object
from resources.models.replies import Interrupted, RequestFault
from resources.untrusted_input.json_text import BadJson, clean_text, parse_untrusted

UNKNOWN = "unknown"
MAX_SECONDS = 5.0
"""Seconds that asking for the engine takes, at most: a request waits for it, once."""
_MAX_LENGTH = 100


class _Engine(NamedTuple):
    """An engine, the path at which it names its version, the version's field, and how it begins."""

    name: str
    path: str
    field: str
    beginning: str = ""


_ENGINES = (
    _Engine("SGLang", "/get_server_info", "version"),
    # LocalAI has one there as well, which begins with a v.
    _Engine("vLLM", "/version", "version", r"\d+\."),
    _Engine("Ollama", "/api/version", "version"),
    _Engine("llama.cpp", "/props", "build_info"),
)
_OWNERS = {"vllm": "vLLM", "sglang": "SGLang", "llamacpp": "llama.cpp", "library": "Ollama"}
"""Engines by the owner that they give each model in their list."""


class EngineFinder:
    """Finds the engine behind a base URL, once; `get` fetches an address and raises its fault."""

    def __init__(self, base_url: str, get: Callable[[str], Awaitable[bytes]]) -> None:
        self._root = base_url.rstrip("/").removesuffix("/v1")
        self._models = f"{base_url.rstrip('/')}/models"
        self._get = get
        self._asking = asyncio.Lock()
        self._engine: str | None = None

    async def find(self) -> str:
        """The engine, as in "vLLM 0.11.0"; `UNKNOWN` where the server does not say.

        A server that takes no connection is asked again the next time.
        """
        async with self._asking:
            if self._engine is None:
                try:
                    async with asyncio.timeout(MAX_SECONDS):
                        self._engine = await self._ask()
                except Interrupted:
                    return UNKNOWN
                except TimeoutError:
                    self._engine = UNKNOWN
            return self._engine

    async def _ask(self) -> str:
        for engine in _ENGINES:
            version = to_object(await self._fetch(f"{self._root}{engine.path}")).get(engine.field)
            if isinstance(version, str) and version and re.match(engine.beginning, version):
                return f"{engine.name} {_shorten(version)}"
        # LM Studio names no version.
        if "data" in to_object(await self._fetch(f"{self._root}/api/v0/models")):
            return "LM Studio"
        listed = to_object(await self._fetch(self._models)).get("data")
        models = listed if isinstance(listed, list) else []
        owners = [str(to_object(model).get("owned_by")) for model in models]
        return next((_OWNERS[owner] for owner in owners if owner in _OWNERS), UNKNOWN)

    async def _fetch(self, address: str) -> Any:
        """The JSON at an address; None where there is none."""
        try:
            return parse_untrusted(await self._get(address))
        except (RequestFault, BadJson) as fault:
            if isinstance(fault, Interrupted) and fault.is_unreachable:
                raise
            return None


def _shorten(version: str) -> str:
    return clean_text(version)[:_MAX_LENGTH]
