"""The guard before Dagster's UI, which has no login: requests of other sites' pages are refused.

A page of another site can send requests to any server that its reader's browser reaches. A browser
says in `Origin` whose page sends a request, and in `Host` which name was opened: a name of somebody
else that leads to this machine (DNS rebinding) is recognised by it.
"""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

_LOOPBACK = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")
_ADDRESS = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_REMEDY = "Open it at an address of its own, or name yours with --address (docs/operate.md)."


class OriginGuard:
    """ASGI middleware that lets requests and websockets pass which come from the UI's own pages.

    `Host` has to be a loopback name or that of one of `origins`. `Origin`, where it is sent, has to
    be one of `origins`, or that of `Host` over HTTP. No page may hold the UI in a frame.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str] = ()) -> None:
        self.app, self.origins = app, frozenset(origins)
        self.hosts = frozenset(origin.partition("://")[2] for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a foreign request with 403, and hand on any other."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif reason := self.find_refusal(Headers(scope=scope)):
            is_http = scope["type"] == "http"
            text = PlainTextResponse(f"{reason} {_REMEDY}\n", 403)
            await (text if is_http else WebSocketClose(1008, reason))(scope, receive, send)
        else:
            await self.app(scope, receive, _forbid_frames(send))

    def find_refusal(self, headers: Headers) -> str | None:
        """The reason for which a request with these headers is refused, if there is one."""
        hosts, senders = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_own_host(hosts[0].lower()):
            return "Host: this is the name of another server."
        own_origins = self.origins | {f"http://{hosts[0].lower()}"}
        if any(sender.lower() not in own_origins for sender in senders):
            return "Origin: the page that sent this is of another site."
        return None

    def _is_own_host(self, host: str) -> bool:
        return host in self.hosts or _LOOPBACK.fullmatch(host) is not None


def parse_origin(address: str) -> str:
    """The origin of an address, as browsers write it: without a default port or a slash.

    Raises `ValueError` where it is not the address of a server.
    """
    origin = address.strip().lower().removesuffix("/")
    if not _ADDRESS.fullmatch(origin):
        raise ValueError(
            f"--address {address}: not a server's URL. Write https://NAME or http://NAME:PORT."
        )
    return origin.removesuffix(_DEFAULT_PORTS[urlsplit(origin).scheme])


def _forbid_frames(send: Send) -> Send:
    async def send_unframed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["X-Frame-Options"] = "SAMEORIGIN"
        await send(message)

    return send_unframed
