"""Bodies that are odd, and were paid for all the same."""

import pytest

from resources.models.replies import ModelUnavailable, Overloaded, UnacceptableRequest, Usage
from tests.providers.http import Response, json_response
from tests.resources.models.backends.asking import LOOK, entry


def at(server, backend):
    url = server.url if backend == "gemini" else server.openai_url
    return entry(backend, url, parameters={"temperature": 0.5})


@pytest.mark.parametrize("backend", ["openai", "gemini"])
@pytest.mark.parametrize(
    ("said", "read"),
    [("{8} \ud83d", "{8} �"), ("{8} 🦵", "{8} 🦵"), ("{8} \\ud83d", "{8} \\ud83d")],
)
def test_half_of_a_surrogate_pair_costs_one_sign(server, ask, backend, said, read):
    server.answer = lambda received: said
    assert ask(at(server, backend), LOOK).text == read
    assert server.count == 1


@pytest.mark.parametrize("count", ["10" * 10, "-5", '"many"', "null", "[1]"])
def test_a_count_that_cannot_be_one_is_unknown(server, ask, count):
    body = """{"choices": [{"message": {"content": "{8}"}}], "model": "m",
               "usage": {"prompt_tokens": %s, "completion_tokens": 3}}"""
    server.answer = lambda received: Response((body % count).encode())
    reply = ask(at(server, "openai"), LOOK)
    assert reply.text == "{8}"
    assert reply.usage == Usage(None, 3)


@pytest.mark.parametrize("backend", ["openai", "gemini"])
@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": ["a"], "type": {"b": 1}, "message": {"c": 2}}},
        {"error": {"message": None, "param": {"x": 1}}},
        {"error": "words"},
        {"error": None},
        {"detail": [{"loc": ["body"], "msg": "wrong"}]},
        ["words"],
        "words",
    ],
)
def test_an_error_of_any_shape_is_a_fault(server, ask, backend, body):
    for status, fault in ((400, UnacceptableRequest), (401, ModelUnavailable), (429, Overloaded)):
        server.answer = lambda received, status=status: json_response(body, status)
        assert isinstance(ask(at(server, backend), LOOK), fault)
