import io
import logging
import threading
import time

import pytest
from PIL import Image

from resources.calls import CallStore
from resources.models import dispatch
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.requests import LookRequest, Turn
from resources.storage.image_store import ImageStore
from tests.providers import Fault, Provider, faults

CANARY = "sk-canary-3f9c1e77ab"
LOG = logging.getLogger("asking")


@pytest.fixture
def server():
    with Provider() as server:
        yield server


@pytest.fixture(autouse=True)
def _hasty(monkeypatch):
    """A key in the environment, and waits between attempts that are no longer than they need be."""
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    monkeypatch.setattr(dispatch, "FIRST_WAIT_S", 0.005)


@pytest.fixture
def client(tmp_path):
    client = client_at(tmp_path)
    yield client
    closed(client)


@pytest.fixture
def called(monkeypatch):
    """Gives an event by a class and the name of a method: that one of these calls has returned."""

    def called(owner, name):
        event, method = threading.Event(), getattr(owner, name)

        def and_tell(*arguments):
            try:
                return method(*arguments)
            finally:
                event.set()

        monkeypatch.setattr(owner, name, and_tell)
        return event

    return called


@pytest.fixture
def dripping(client):
    """A fault: a reply that drips, and whose deadline passes as soon as it has begun to.

    So much for the clock of the client's event loop, which jumps then: one request at a time.
    """
    loop, ahead_s = client._pool.start()._loop, [0]
    loop.time = lambda: time.monotonic() + ahead_s[0]

    def drip(exchange):
        ahead_s[0] += 3600
        return faults.DRIPPING.reply(exchange)

    return Fault(faults.DRIPPING.name, dict.fromkeys(faults.DRIPPING.makes, drip))


def client_at(root, **store):
    """A client whose store and images lie below `root`."""
    calls = CallStore(url=f"sqlite:///{root}/calls.sqlite", **store)
    return ModelClient(calls=calls, images=ImageStore(root=str(root)))


def closed(client):
    client.close()
    client.calls.close()


def model(server, backend="openai", **more):
    """An entry of models.yaml for a model of the test's provider."""
    url = server.url if backend == "gemini" else server.openai_url
    entry = {
        "name": "judge",
        "backend": backend,
        "model": "test-1",
        "family": "test",
        "roles": ["judge", "writer", "painter", "editor"],
        "base_url": url,
        "concurrency": 16,
    }
    if backend == "openai_compatible":
        entry["roles"] = ["judge", "writer"]
    return Model.model_validate(entry | more)


def looks(number, *images, start=0):
    """So many different questions about the same pictures."""
    return [
        LookRequest((Turn("user", f"How many legs has animal {place}?", images),))
        for place in range(start, start + number)
    ]


def png(colour="red"):
    data = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(data, "PNG")
    return data.getvalue()
