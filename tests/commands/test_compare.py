"""`counterfactory compare`: how far a served model agrees with another entry of it."""

import json
import re

import pytest
from upath import UPath

from resources.models.catalog import Model
from resources.models.server_comparison import describe_batch_invariance
from tests import tiny
from tests.providers import Provider

pytestmark = pytest.mark.slow

SERVED = """
- {{name: one, backend: openai_compatible, model: m, family: f, roles: [judge], base_url: {0}}}
- {{name: other, backend: openai_compatible, model: m-2, family: f, roles: [judge], base_url: {1},
   parameters: {{temperature: 0}}}}
- {{name: paid, backend: openai, model: p, family: f, roles: [judge], base_url: {1}, key: PAID,
   longest_output: 10, tokens_per_image: 100,
   price: {{input_per_million: 1.0, output_per_million: 1.0}}}}
- {{name: shut, backend: openai, model: q, family: f, roles: [painter]}}
"""
SCORING = """
- {{name: eager, backend: transformers, model: {0}, family: f, roles: [metric],
   parameters: {{formula: expected_score, attention: eager}}}}
- {{name: sdpa, backend: transformers, model: {0}, family: f, roles: [metric],
   parameters: {{formula: expected_score, attention: sdpa, batch: 4}}}}
"""


@pytest.fixture
def servers(monkeypatch):
    monkeypatch.setenv("PAID", "sk-paid-1")
    with Provider(latency_s=0.02) as one, Provider(latency_s=0.02) as other:
        yield one, other


@pytest.fixture
def compare(command, servers, tmp_path):
    models = SERVED.format(*(server.openai_url for server in servers))

    def run(*arguments):
        home = {"COUNTERFACTORY_HOME": tmp_path / "data"}
        return command("compare", *arguments, models=models, **home)

    return run


def test_equal_replies_equal_answers_and_batch_invariance_are_told_and_recorded(
    compare, servers, tmp_path
):
    """The other server answers two questions with other words, and one of them otherwise."""
    (first, second), questions, asked = servers, [], []

    def answer_two_otherwise(received):
        question = received.texts[-1], received.images
        if question not in questions:
            questions.append(question)
        return {3: "It is {5}.", 4: "{7}"}.get(questions.index(question), "{5}")

    def answer_one_otherwise_among_others(received):
        asked.append(received.digest)
        return "{6}" if len(asked) == 11 else "{5}"

    first.answer, second.answer = answer_one_otherwise_among_others, answer_two_otherwise
    done = compare("one", "other", "--items", "10")
    assert done.exit_code == 0, done.output
    assert "one and other, asked 10 questions of scenes drawn for this comparison" in done.output
    assert "equal replies: 8 of 10 (80%, 95 % interval 44% to 97%)" in done.output
    assert "one is not batch-invariant: alone and all at once, 9 of 10" in done.output
    assert "one may sample its answers: set temperature: 0" in done.output
    assert "other is batch-invariant here: alone and all at once, 10 of 10" in done.output
    assert "other may sample" not in done.output
    assert (first.count, second.count) == (20, 20)
    assert [server.most_in_flight > 1 for server in servers] == [True, True]
    (record,) = json.loads((tmp_path / "data" / "server_comparisons.json").read_text())
    assert record["replies"]["equal"] == 8
    assert [one["batch_invariant"]["equal"] for one in record["models"]] == [9, 10]
    known = {"backend": "openai_compatible", "family": "f", "roles": ("judge",)}
    judge = Model(name="one", model="m", base_url=first.openai_url, **known)
    described = describe_batch_invariance(UPath(tmp_path / "data"), judge)
    assert described.startswith("9 of 10 replies equal alone and all at once, 20")
    elsewhere = judge.model_copy(update={"base_url": second.openai_url})
    assert describe_batch_invariance(UPath(tmp_path / "data"), elsewhere) is None
    again = compare("one", "other", "--items", "10")
    assert again.exit_code == 0
    assert first.count == 40, "the answers of another comparison were taken"


def test_a_paid_provider_is_asked_with_a_budget_alone(compare, servers):
    _, second = servers
    done = compare("other", "paid", "--items", "4")
    assert done.exit_code == 0
    cost = re.search(r"paid: 8 requests, at most \$(\d+\.\d\d)\.", done.output)
    assert cost, done.output
    assert "Nothing was sent. Give --budget USD" in done.output
    assert second.count == 0
    poor = compare("paid", "other", "--items", "4", "--budget", "0.0001")
    assert poor.exit_code == 1
    assert "budget" in poor.output
    assert second.count == 0


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("one", "one"), "one and one cannot be compared"),
        (("one", "shut"), "'shut' is no judge or metric"),
    ],
)
def test_what_cannot_be_compared_is_named(compare, names, words):
    done = compare(*names)
    assert done.exit_code == 2
    assert words in done.output


def test_scores_of_two_metrics_differ_by_so_much(command, tmp_path):
    llava = tiny.save_llava(tmp_path / "llava", words=f"{tiny.WORDS} 0 1 2 3 4 5 6 7 8 9")
    models = SCORING.format(llava)
    home = {"COUNTERFACTORY_HOME": tmp_path / "data"}
    done = command("compare", "eager", "sdpa", "--items", "4", models=models, **home)
    assert done.exit_code == 0, done.output
    assert re.search(r"equal replies: \d of 4|none, as there", done.output)
    assert "eager is batch-invariant here" in done.output
