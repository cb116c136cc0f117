"""The guard before Dagster's UI: which requests pass; and what `counterfactory ui` refuses."""

import asyncio
import signal
import socket
from itertools import product
from unittest.mock import Mock

import pytest
from dagster._cli import dev
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket

from commands.environment import ORIGINS_VARIABLE
from commands.interruption import signal_log
from commands.origin_guard import OriginGuard, parse_origin
from tests.ports import free_port

PUBLIC = "https://bench.example.org"
FOREIGN_HOSTS = [
    *("", "evil.example", "evil.example:3000", "localhost.evil.example", "127.0.0.1.evil.example"),
    *("evil.localhost:3000", "localhost.:3000", "localhost:3000@evil.example", "127.0.0.2:3000"),
    *("127.0.0.1:3000:3000", "127.0.0.1:", "127.1", "2130706433", "0.0.0.0:3000", "[::1", "::1"),
    *(
        "[::]:3000",
        "[::ffff:127.0.0.1]",
        "localhost:0x50",
        "localhost:٣",
        "localhost/",
        "localhost ",
    ),
    *("localhost\n", "127.0.0.1:3000, evil.example", "bench.example.org.evil.example", "bench"),
    *("bench.example.org:8443", "evil.bench.example.org", "xbench.example.org", "localhost:123456"),
]
FOREIGN_ORIGINS = [
    *("null", "", "http://evil.example", "https://localhost:3000", "http://localhost:3001"),
    *("http://localhost", "http://127.0.0.1:3000", "http://localhost:3000.evil.example", "file://"),
    *("http://localhost:3000@evil.example", "http://localhost:3000/", "localhost:3000", "http://"),
    *("https://bench.example.org:8443", "https://bench.example.org.", "http://bench.example.org"),
    *("https://evil.bench.example.org", "https://bench.example.org evil", "http://localhost:3000 "),
    *(
        "http://localhost:3000 http://evil.example",
        "chrome-extension://abcdef",
        "http://[::1]:3000",
    ),
]


async def _application(scope, receive, send):
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).accept()
    else:
        await PlainTextResponse("taken")(scope, receive, send)


def sent_by(guard, kind, *headers):
    """The first thing that the guard sends in reply to a request with these headers."""
    replies = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        replies.append(message)

    named = [(name.encode(), value.encode("utf-8")) for name, value in headers]
    scope = {"type": kind, "method": "POST", "path": "/graphql", "headers": named}
    asyncio.run(guard({**scope, "query_string": b"", "extensions": {}}, receive, send))
    return replies[0]


def passes(guard, kind, *headers):
    """Whether a request with these headers reaches the application."""
    reply = sent_by(guard, kind, *headers)
    if kind == "websocket":
        return reply["type"] == "websocket.accept"
    return reply["status"] == 200


@pytest.fixture(scope="module")
def guard():
    return OriginGuard(_application, [PUBLIC])


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_own_hosts_and_origins_pass(guard, kind):
    assert passes(guard, kind, ("host", "127.0.0.1:3000"))
    assert passes(guard, kind, ("host", "LOCALHOST:8000"), ("origin", "http://localhost:8000"))
    assert passes(guard, kind, ("host", "[::1]:3000"), ("origin", "http://[::1]:3000"))
    assert passes(guard, kind, ("host", "bench.example.org"), ("origin", PUBLIC))
    # A proxy that names the server that it asks, as nginx does by default.
    assert passes(guard, kind, ("host", "127.0.0.1:3000"), ("origin", PUBLIC))


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_foreign_hosts_and_origins_are_refused(guard, kind):
    senders = (None, "http://localhost:3000", PUBLIC)
    for host, sender in product(FOREIGN_HOSTS, senders):
        origin = [("origin", sender)] if sender else []
        assert not passes(guard, kind, ("host", host), *origin), (host, sender)
        assert not passes(guard, kind, ("host", "localhost:3000"), ("host", host)), host
    for sender in FOREIGN_ORIGINS:
        own = ("host", "localhost:3000")
        assert not passes(guard, kind, own, ("origin", sender)), sender
        assert not passes(guard, kind, own, ("origin", PUBLIC), ("origin", sender)), sender
    assert not passes(guard, kind)


def test_no_page_may_hold_the_ui_in_a_frame(guard):
    reply = sent_by(guard, "http", ("host", "127.0.0.1:3000"))
    assert (b"x-frame-options", b"SAMEORIGIN") in reply["headers"]


def test_an_address_is_taken_as_browsers_write_it():
    assert parse_origin("https://Bench.Example.org:443/") == PUBLIC
    assert parse_origin("http://10.0.0.7:80") == "http://10.0.0.7"
    assert parse_origin("http://[fe80::1]:3000") == "http://[fe80::1]:3000"
    for wrong in ("bench.example.org", "https://a b", "https://a/b", "ftp://a", "https://a@b", "*"):
        with pytest.raises(ValueError, match="not a server's URL"):
            parse_origin(wrong)


def test_what_others_can_reach_needs_an_address(command):
    done = command("ui", "--host", "0.0.0.0")
    assert done.exit_code == 2
    assert "--address http://NAME:3000" in done.stderr
    done = command("ui", "--address", "bench.example.org")
    assert done.exit_code == 2
    assert "not a server's URL" in done.stderr


@pytest.fixture
def services(monkeypatch):
    """What runs Dagster's services until one of them ends or a signal comes."""
    run_services = Mock()
    monkeypatch.setenv(ORIGINS_VARIABLE, "")
    monkeypatch.setattr(dev, "open_ipc_subprocess", dev.open_ipc_subprocess)
    monkeypatch.setattr(dev, "dev_command_impl", run_services)
    return run_services


@pytest.mark.parametrize(("received", "code"), [(None, 1), (signal.SIGINT, 0)])
def test_it_fails_where_a_service_ended_by_itself(command, services, monkeypatch, received, code):
    monkeypatch.setattr(signal_log, "_number", received)
    assert command("ui", "--port", str(free_port())).exit_code == code
    services.assert_called_once()


def test_a_port_in_use_is_refused_before_anything_starts(command, services):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = command("ui", "--port", str(port))
    assert done.exit_code != 0
    assert f"Port {port} of 127.0.0.1: " in done.stderr
    services.assert_not_called()


def test_a_signal_while_services_start_ends_it_as_any_command(command, services):
    services.side_effect = KeyboardInterrupt
    done = command("ui", "--port", str(free_port()))
    assert done.exit_code == 130
    assert done.stderr.strip() == "Interrupted: what is finished is kept."
