"""Fields to change in an entry, by what is wrong with it."""

import pytest

from assets.kit.entry_changes import suggest_changes
from assets.kit.entry_check import CheckQuestion, CheckResult
from resources.models.catalog import Model
from resources.models.outcomes import AnsweredOutcome, FailedOutcome
from resources.models.requests import WriteRequest

FIELDS = {"name": "m", "model": "m-1", "family": "f", "roles": ("judge", "writer")}


def entry(url="http://localhost:8000/v1", **fields):
    return Model(backend="openai_compatible", base_url=url, **FIELDS, **fields)


def result(cause, words="", roles=("judge",)):
    question = CheckQuestion("asks", roles, WriteRequest(()), lambda _: None)
    return CheckResult(question, FailedOutcome("unacceptable", words, 1), "It does not.", cause)


def test_what_works_needs_no_change():
    question = CheckQuestion("asks", ("judge",), WriteRequest(()), lambda _: None)
    assert suggest_changes(entry(), [CheckResult(question, AnsweredOutcome("{5}"))], []) == {}


@pytest.mark.parametrize(
    ("url", "listed", "change"),
    [
        ("http://localhost:8000", [], {"base_url": "http://localhost:8000/v1"}),
        ("http://localhost:8000/", [], {"base_url": "http://localhost:8000/v1"}),
        ("http://localhost:8000/v1", [], {}),
        ("http://localhost:8000/v1/", [], {}),
        ("http://localhost:8000", ["m-2", "other"], {"model": "m-2"}),
    ],
)
def test_an_address_without_its_path_gets_it_and_a_listed_id_is_taken(url, listed, change):
    results = [result("model", "HTTP 404: Not Found")]
    assert suggest_changes(entry(url), results, listed) == change


@pytest.mark.parametrize("cause", ["vision", "blind", "schema"])
def test_roles_that_cannot_be_are_left_out(cause):
    assert suggest_changes(entry(), [result(cause)], []) == {"roles": ["writer"]}
    both = [result(cause, roles=("judge",)), result(cause, roles=("writer",))]
    assert suggest_changes(entry(), both, []) == {}


@pytest.mark.parametrize(
    ("cause", "words", "parameters", "changed"),
    [
        ("limit", "", {"max_tokens": 100}, {"max_tokens": 400}),
        ("limit", "", {}, {"max_tokens": 16_000}),
        ("limit", "", {"max_tokens": 9_000_000}, {"max_tokens": 10_000_000}),
        (
            "context",
            "maximum context length is 4096 tokens",
            {"max_tokens": 4000},
            {"max_tokens": 1024},
        ),
        ("context", "model length of 4096.", {"max_tokens": 100}, None),
        ("context", "too long", {"max_tokens": 100}, None),
        (
            "parameter",
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            {"max_tokens": 100, "temperature": 1},
            {"temperature": 1, "max_completion_tokens": 100},
        ),
        ("parameter", "Unknown (top_k is set in models.yaml, for every request)", {"top_k": 1}, {}),
        ("parameter", "Unknown", {"top_k": 1}, None),
        ("rate", "HTTP 429", {"top_k": 1}, None),
    ],
)
def test_parameters_are_changed_whole(cause, words, parameters, changed):
    model = entry(parameters=parameters)
    changes = {} if changed is None else {"parameters": changed}
    assert suggest_changes(model, [result(cause, words)], []) == changes


def test_a_server_with_a_key_gets_a_variable_for_it():
    assert suggest_changes(entry(), [result("key")], []) == {"key": "MY_SERVER_KEY"}
    assert suggest_changes(entry(key="OWN_KEY"), [result("key")], []) == {}
