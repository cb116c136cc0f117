"""The real SDKs as this project uses them: sending a request exactly once, following nothing."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import httpx2
from google import genai
from google.genai import types
from openai import AsyncOpenAI

from tests.providers import Provider

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

UNUSED = httpx2.Client(verify=False)  # or the SDK makes its own, which takes 0.1 s
KEY = "canary-key-0123456789"
Result = TypeVar("Result")


def with_openai(
    server: Provider, use: Callable[[AsyncOpenAI], Awaitable[Result]], key: str = KEY
) -> Result:
    async def run() -> Result:
        http = httpx2.AsyncClient(follow_redirects=False, timeout=300, verify=False)
        async with AsyncOpenAI(
            base_url=server.openai_url, api_key=key, max_retries=0, http_client=http
        ) as client:
            return await use(client)

    return asyncio.run(run())


def with_gemini(
    server: Provider, use: Callable[[genai.client.AsyncClient], Awaitable[Result]], key: str = KEY
) -> Result:
    async def run() -> Result:
        plain = {"follow_redirects": False, "timeout": 300, "verify": False}
        async with httpx2.AsyncClient(**plain) as http:
            options = types.HttpOptions(
                base_url=server.url,
                retry_options=types.HttpRetryOptions(attempts=1),
                httpx_async_client=http,
                httpx_client=UNUSED,
            )
            return await use(genai.Client(api_key=key, http_options=options).aio)

    return asyncio.run(run())


def with_anthropic(
    server: Provider, use: "Callable[[AsyncAnthropic], Awaitable[Result]]", key: str = KEY
) -> Result:
    # Here, for every process that collects tests would import it: 1.5 s.
    from anthropic import AsyncAnthropic  # noqa: PLC0415 - see above

    async def run() -> Result:
        http = httpx2.AsyncClient(follow_redirects=False, timeout=300, verify=False)
        async with AsyncAnthropic(
            base_url=server.url, api_key=key, max_retries=0, http_client=http
        ) as client:
            return await use(client)

    return asyncio.run(run())


def data_uri(png: bytes) -> dict:
    """A part of a chat message: a picture."""
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
