"""A picture's address is resolved once, and the connection goes to the address that was checked."""

import asyncio
import socket

import httpx2
import pytest

from resources.models.backends.addresses import ForbiddenAddress, fetch_public_url

PICTURES, API = "https://pictures.example/a.png?sig=s", "https://api.example/v1"


@pytest.fixture
def names(monkeypatch):
    """Addresses by name, one list for each time that it is looked up."""
    known = {"pictures.example": [], "api.example": [["203.0.114.9"]]}

    def look_up(host, *_, **__):
        return [(socket.AF_INET, 1, 6, "", (address, 0)) for address in known[host].pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


def fetch():
    received = []

    def answer(request):
        received.append(request)
        return httpx2.Response(200, content=b"picture")

    async def once():
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
            return await fetch_public_url(client, PICTURES, API)

    return asyncio.run(once()).content, received


def test_what_is_asked_is_the_address_that_was_checked(names):
    # A name that stands for another address the next time: only the first is ever used.
    names["pictures.example"] = [["198.51.101.7"], ["127.0.0.1"]]
    content, (request,) = fetch()
    assert content == b"picture"
    assert str(request.url) == "https://198.51.101.7/a.png?sig=s"
    assert request.headers["host"] == "pictures.example"
    assert request.extensions["sni_hostname"] == "pictures.example"


def test_one_address_of_several_that_is_not_public_is_enough(names):
    names["pictures.example"] = [["198.51.101.7", "10.0.0.5"]]
    with pytest.raises(ForbiddenAddress, match=r"pictures\.example, which is not a public address"):
        fetch()


def test_the_provider_may_name_its_own_machine(names):
    names["pictures.example"], names["api.example"] = [["10.0.0.5"]], [["10.0.0.5"]]
    assert fetch()[0] == b"picture"
