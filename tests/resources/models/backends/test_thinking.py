"""What each provider is sent at a step of thinking, what it bills, and what it refuses."""

import json

import pytest

from resources.models.replies import ModelReply, ModelUnavailable, UnacceptableRequest
from tests.providers import anthropic_wire, gemini_wire, openai_wire
from tests.providers.http import json_response
from tests.resources.models.backends.asking import LOOK, entry

CHAT = {"choices": [{"message": {"content": "{5}"}}]}
SPENT = {"completion_tokens": 640, "completion_tokens_details": {"reasoning_tokens": 600}}
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "{5}"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"candidatesTokenCount": 40, "thoughtsTokenCount": 600},
}
CLAUDE = {
    "content": [
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "text", "text": "{5}"},
    ],
    "usage": {"output_tokens": 640, "output_tokens_details": {"thinking_tokens": 600}},
}
EFFORT = {"reasoning_effort": ["low", "high"]}
SWITCH = {"chat_template_kwargs": {"enable_thinking": [False, True]}}
ROUTED = {"reasoning": {"max_tokens": [1024, 8192]}}
BUDGET = {"thinking_config": {"thinking_budget": [0, 1024]}}
LEVEL = {"thinking_config": {"thinking_level": ["LOW", "HIGH"]}}
CLAUDES = {"thinking": {"budget_tokens": [1024, 8192]}}
OUTPUT = {"output_config": {"effort": ["low", "max"]}}
LIMIT = {"max_tokens": 32000, "thinking": {"type": "enabled"}}


@pytest.mark.parametrize(
    ("backend", "thinking", "parameters", "field", "values"),
    [
        ("openai", EFFORT, {}, ("reasoning_effort",), ["low", "high"]),
        ("openai_compatible", EFFORT, {}, ("reasoning_effort",), ["low", "high"]),
        (
            *("openai_compatible", SWITCH, {}),
            ("chat_template_kwargs", "enable_thinking"),
            [False, True],
        ),
        ("openai_compatible", ROUTED, {}, ("reasoning", "max_tokens"), [1024, 8192]),
        (
            "gemini",
            BUDGET,
            {},
            ("generationConfig", "thinkingConfig", "thinking_budget"),
            [0, 1024],
        ),
        (
            *("gemini", LEVEL, {}),
            ("generationConfig", "thinkingConfig", "thinking_level"),
            ["LOW", "HIGH"],
        ),
        ("anthropic", CLAUDES, LIMIT, ("thinking", "budget_tokens"), [1024, 8192]),
        ("anthropic", OUTPUT, {"max_tokens": 9}, ("output_config", "effort"), ["low", "max"]),
    ],
)
def test_every_step_is_on_the_wire_and_its_tokens_come_back(
    server, ask, backend, thinking, parameters, field, values
):
    bodies = {"gemini": GEMINI, "anthropic": CLAUDE}
    server.answer = lambda _: json_response(bodies.get(backend, {**CHAT, "usage": SPENT}))
    judge = judge_at(server, backend, thinking=thinking, parameters=parameters)
    for (_, step), value in zip(judge.thinking_steps[1:], values, strict=True):
        reply = ask(step, LOOK)
        assert isinstance(reply, ModelReply), reply
        sent = received_body(server)
        for name in field:
            sent = sent[name]
        assert sent == value
        assert (reply.text, reply.usage.output_tokens) == ("{5}", 640)
        assert reply.provenance["thought_tokens"] == 600


@pytest.mark.parametrize(
    ("backend", "parameters", "error"),
    [
        (
            *("openai", {"reasoning_effort": "max"}),
            openai_wire.error(
                400, "Unsupported value: 'max'.", code="unsupported_value", param="reasoning_effort"
            ),
        ),
        (
            *("openai_compatible", {"reasoning": {"effort": "max"}}),
            openai_wire.error(400, "No such value: 'max'.", code="x", param="reasoning.effort"),
        ),
        (
            *("openai_compatible", {"chat_template_kwargs": {"enable_thinking": True}}),
            openai_wire.error(400, "This model has no reasoning parser.", code="x"),
        ),
        (
            *("gemini", {"thinking_config": {"thinking_budget": 0}}),
            gemini_wire.error(
                400,
                "INVALID_ARGUMENT",
                "Budget 0 is invalid. This model only works in thinking mode.",
            ),
        ),
        (
            *("anthropic", {"max_tokens": 500, "thinking": {"type": "enabled"}}),
            anthropic_wire.error(
                400, "thinking.enabled.budget_tokens: Input should be greater than 1023"
            ),
        ),
        (
            *("anthropic", {"max_tokens": 9, "output_config": {"effort": "max"}}),
            anthropic_wire.error(400, "This model does not support the effort parameter."),
        ),
    ],
)
def test_a_step_that_is_refused_stops_the_run_and_names_the_parameter(
    server, ask, backend, parameters, error
):
    server.answer = lambda _: error
    fault = ask(judge_at(server, backend, parameters=parameters), LOOK)
    name = next(iter({*parameters} - {"max_tokens"}))
    assert type(fault) is ModelUnavailable
    assert f"({name} is set in models.yaml, for every request)" in str(fault)


def test_another_bad_request_is_no_fault_of_the_step(server, ask):
    server.answer = lambda _: openai_wire.error(400, "The picture is broken.", code="x")
    judge = judge_at(server, "openai", parameters={"reasoning_effort": "low"})
    assert type(ask(judge, LOOK)) is UnacceptableRequest


def test_no_thinking_is_none_only_where_the_provider_says_so(server, ask):
    usage = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 0}}
    server.answer = lambda _: json_response({**CHAT, "usage": usage})
    assert ask(judge_at(server, "openai"), LOOK).provenance == {"thought_tokens": 0}
    server.answer = lambda _: json_response({**CHAT, "usage": {"completion_tokens": 9}})
    assert ask(judge_at(server, "openai"), LOOK).provenance is None


def judge_at(server, backend, **fields):
    url = server.openai_url if backend.startswith("openai") else server.url
    return entry(backend, url, **fields)


def received_body(server):
    return json.loads(server.received[-1].body)
