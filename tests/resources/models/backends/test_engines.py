"""Which engine answers, asked of the server itself, beside what it answers."""

import pytest

from resources.models.backends import engines
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import compute_call_keys
from tests.providers import Response
from tests.providers.http import json_response
from tests.resources.models.conftest import LOG, looks, model

VLLM = {"/version": {"version": "0.11.0"}}


def asked(client, server, number=1, **entry):
    return client.ask(model(server, "openai_compatible", **entry), looks(number), LOG).outcomes


@pytest.mark.parametrize(
    ("told", "engine"),
    [
        (VLLM, "vLLM 0.11.0"),
        ({"/get_server_info": {"version": "0.5.4", "tp_size": 1}}, "SGLang 0.5.4"),
        ({"/api/version": {"version": "0.13.1"}}, "Ollama 0.13.1"),
        ({"/props": {"build_info": "b7000-abc"}}, "llama.cpp b7000-abc"),
        ({"/api/v0/models": {"object": "list", "data": []}}, "LM Studio"),
        ({}, "unknown"),
        ({"/version": {"version": 11}, "/props": ["b7000"]}, "unknown"),
        ({"/version": {"version": f"1.{'1' * 300}"}}, f"vLLM 1.{'1' * 98}"),
        ({"/version": {"version": "v3.6.0 (b1d2e3f)"}}, "unknown"),
    ],
)
def test_a_server_says_its_engine_and_version(server, client, told, engine):
    server.engine = told
    (outcome,) = asked(client, server)
    assert outcome.provenance == {"engine": engine}


def test_where_no_version_is_said_the_owner_of_the_models_tells_the_engine(server, client):
    server.engine = {}
    server.owner = "sglang"
    (outcome,) = asked(client, server)
    assert outcome.provenance == {"engine": "SGLang"}


def test_it_is_asked_once_for_all_requests_and_is_in_no_key(server, client):
    entry = model(server, "openai_compatible")
    keys = compute_call_keys(entry, looks(30))
    outcomes = client.ask(entry, looks(30), LOG).outcomes
    assert {outcome.provenance["engine"] for outcome in outcomes} == {"vLLM 0.11.0"}
    assert (server.count, server.engine_requests.count("/version")) == (30, 1)
    server.engine = {"/version": {"version": "0.12.0"}}
    again = client.ask(entry, looks(31), LOG)
    assert (again.sent, compute_call_keys(entry, looks(30))) == (1, keys)
    assert again.outcomes[0].provenance == {"engine": "vLLM 0.11.0"}


def test_other_backends_ask_for_none(server, client):
    client.ask(model(server), looks(1), LOG)
    assert server.engine_requests == []


def test_a_server_that_keeps_silent_about_it_answers_all_the_same(server, client, monkeypatch):
    monkeypatch.setattr(engines, "MAX_SECONDS", 0.05)
    server.engine = {"/get_server_info": Response(b"{}", delay=30)}
    (outcome,) = asked(client, server)
    assert isinstance(outcome, AnsweredOutcome)
    assert outcome.provenance == {"engine": "unknown"}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_that_come_apart_are_counted_and_no_answer(server, client, field):
    message = {"content": "{5}", field: "Four or five?"}
    server.answer = lambda _: json_response({"choices": [{"message": message}]})
    (outcome,) = asked(client, server)
    assert (outcome.text, outcome.provenance) == (
        "{5}",
        {"engine": "vLLM 0.11.0", "thoughts_cut": "by provider", "thought_characters": 13},
    )


def test_thoughts_that_are_billed_and_kept_back_have_no_characters(server, client):
    usage = {"completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 39}}
    reply = {"choices": [{"message": {"content": "{5}"}}], "usage": usage}
    server.answer = lambda _: json_response(reply)
    (outcome,) = client.ask(model(server), looks(1), LOG).outcomes
    assert outcome.provenance == {"thoughts_cut": "by provider", "thought_tokens": 39}
