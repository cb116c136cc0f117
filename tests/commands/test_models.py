"""`counterfactory models`: what providers and servers list, and the entries to add."""

import re

import pytest

from resources.models.catalog import load_catalog
from resources.models.known_models import KNOWN_MODELS, find_family, find_roles
from tests.providers import Provider, faults
from tests.providers.faults.base import Fault
from tests.providers.http import json_response
from tests.test_docs import PROJECT

CATALOG = """
- {{name: luna, backend: openai, model: gpt-6-luna, family: gpt, roles: [judge], base_url: {0}/v1}}
- {{name: flash, backend: gemini, model: gemini-9, family: gemini, roles: [judge], base_url: {0}}}
- {{name: claude, backend: anthropic, model: claude-9, family: claude, roles: [judge],
   base_url: {0}, parameters: {{max_tokens: 10}}}}
"""
VLLM = {"id": "Qwen/Qwen2.5-VL-7B-Instruct", "object": "model", "max_model_len": 8192}
ROUTED = {
    "id": "maker/sees",
    "context_length": 100_000,
    "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
    "pricing": {"prompt": "0.0000005", "completion": "0.0000015"},
    "top_provider": {"max_completion_tokens": 4096},
}


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-models-0123456789")
    with Provider() as server:
        server.models = {
            "openai": ["gpt-6-luna", "gpt-image-9", "text-embedding-9", "[red]odd"],
            "gemini": ["gemini-9", "gemini-9-image", "gemma-9"],
            "anthropic": ["claude-9", "claude-sonnet-5-5"],
        }
        yield server


@pytest.fixture
def models(command, server, tmp_path):
    def run(*arguments, catalog=CATALOG):
        home = {"COUNTERFACTORY_HOME": tmp_path / "data"}
        return command("models", *arguments, models=catalog.format(server.url), **home)

    return run


def lines(done):
    """Each row of the tables by its id: the other cells, as far as they hold anything."""
    rows = (re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines())
    return {row[0]: row[1:] for row in rows if len(row) > 1}


def listing(*models):
    """A server that lists these."""
    return Fault("list", {"openai": lambda _: json_response({"data": list(models)})})


def pasted(done, tmp_path):
    """The printed entry, as the catalog loads it."""
    path = tmp_path / "pasted.yaml"
    path.write_text(done.stdout)
    (model,) = load_catalog(path).models
    return model


def test_all_providers_are_listed_with_role_price_and_entry(models, server):
    done = models()
    assert done.exit_code == 0, done.output
    rows = lines(done)
    assert rows["gpt-6-luna"] == ["writer, judge, captioner", "0.1 / 0.5", "luna"]
    assert rows["gpt-image-9"] == ["painter, editor", "unknown"]
    assert rows["[red]odd"] == ["unknown", "unknown"]
    assert rows["gemini-9"] == ["writer, judge, captioner", "1,000,000", "unknown", "flash"]
    assert rows["gemma-9"] == ["unknown", "1,000,000", "unknown"]
    assert rows["claude-sonnet-5-5"] == ["writer, judge, captioner", "2 / 10"]
    assert "text-embedding-9" not in rows
    assert "1 more have no role here" in done.stdout
    assert {received.task for received in server.received} == {"models"}
    assert {*lines(models("--backend", "anthropic"))} >= {"claude-9", "claude-sonnet-5-5"}


def test_a_servers_list_gives_windows_prices_and_entries(models, server, tmp_path):
    server.always(listing(VLLM, ROUTED, {"id": "plain"}))
    url = server.openai_url
    rows = lines(models("--backend", url, catalog="[]"))
    assert rows[VLLM["id"]] == ["writer, judge, captioner", "8,192", "0 / 0"]
    assert rows["maker/sees"] == ["writer, judge, captioner", "100,000", "0.5 / 1.5"]
    assert rows["plain"] == ["unknown", "0 / 0"]
    done = models(VLLM["id"], "--backend", url, "--key", "MY_SERVER_KEY", catalog="[]")
    assert done.exit_code == 1
    assert done.stderr.startswith("MY_SERVER_KEY is not set: put the API key into it")
    model = pasted(models(VLLM["id"], "--backend", url, catalog="[]"), tmp_path)
    assert model.base_url == url
    assert model.name == "qwen2_5_vl_7b_instruct"
    assert (model.family, model.parameters) == ("qwen", {"max_tokens": 1024})
    assert model.roles == ("writer", "judge", "captioner")
    done = models("plain", "--backend", url, catalog="[]")
    assert "# nothing says what it can do: `counterfactory check` tries" in done.stdout
    assert pasted(done, tmp_path).model == "plain"


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (("gpt-6-luna", "--backend", "openai"), True),
        (("gpt-image-9",), False),
        (("gemini-9-image",), False),
        (("claude-sonnet-5-5", "--backend", "anthropic"), True),
    ],
)
def test_the_printed_entry_is_pasted_and_loads(models, tmp_path, arguments, known):
    done = models(*arguments)
    assert done.exit_code == 0, done.output
    model = pasted(done, tmp_path)
    assert model.model == arguments[0]
    assert (model.price.input_per_million is not None) == known
    assert ("# price: {input_per_million: USD" in done.stdout) != known
    assert ("# luna asks it already" in done.stdout) == (arguments[0] == "gpt-6-luna")


def test_what_is_not_there_or_not_set_is_one_sentence(models, server, monkeypatch):
    done = models("gpt-6-lunar")
    assert done.exit_code == 2
    assert "'gpt-6-lunar' is in no list, did you mean gpt-6-luna?" in done.stderr
    done = models("--backend", "azure")
    assert done.stderr.startswith("'azure' is no provider with a list: name openai, gemini,")
    server.always(faults.INVALID_KEY)
    done = models("--backend", "gemini")
    assert done.exit_code == 1
    assert "refuses the key in GEMINI_API_KEY" in done.stderr
    monkeypatch.delenv("OPENAI_API_KEY")
    done = models("--backend", "openai")
    assert done.stderr.startswith("OPENAI_API_KEY is not set: put the API key into it, or add")
    assert done.exit_code == 1
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    done = models()
    assert done.stderr.startswith("No API key is set: set OPENAI_API_KEY, GEMINI_API_KEY or")
    assert done.exit_code == 2


def test_an_address_or_a_variable_that_is_none_is_named(models, server):
    done = models("--backend", "http://")
    assert done.stderr.startswith("--backend is not a valid URL: write one as in http://localhost")
    assert done.exit_code == 2
    done = models("--backend", server.openai_url, "--key", "a b")
    assert done.stderr.startswith("--key ")
    assert done.exit_code == 2


def test_a_server_that_lists_nothing_says_so(models, server):
    server.models["openai"] = []
    done = models("--backend", server.openai_url)
    assert done.stderr == f"{server.openai_url} lists no models.\n"
    assert done.exit_code == 1


def test_known_models_are_the_examples_of_models_yaml(tmp_path):
    comments = re.sub("^# ?", "", (PROJECT / "models.yaml").read_text(), flags=re.MULTILINE)
    entries = re.findall(r"^- name:.*?\n(?=\S|\Z)", comments, re.MULTILINE | re.DOTALL)
    path = tmp_path / "models.yaml"
    path.write_text("".join(entries))
    examples = load_catalog(path).models
    shown = {
        (model.backend, model.model): model for model in examples if model.backend in KNOWN_MODELS
    }
    known = {
        (backend, model): details
        for backend, by_id in KNOWN_MODELS.items()
        for model, details in by_id.items()
    }
    assert {*shown} == {*known}
    for key, model in shown.items():
        details = known[key]
        assert details.price == model.price, key
        assert dict(details.parameters) == model.parameters, key
        assert details.longest_output == model.longest_output, key
        assert {*model.roles} <= {*find_roles(*key)}, key


@pytest.mark.parametrize(
    ("backend", "model", "roles"),
    [
        ("openai", "gpt-4-0613", "writer"),
        ("openai", "o3-mini", "writer"),
        ("openai", "o4-mini-2025-04-16", "reader"),
        ("openai", "gpt-5-pro", "none"),
        ("openai", "gpt-4o-audio-preview", "none"),
        ("openai", "ft:something", "unknown"),
        ("gemini", "gemini-2.5-pro", "reader"),
        ("gemini", "gemini-2.5-flash-preview-tts", "none"),
        ("openai_compatible", "llava:7b", "reader"),
        ("openai_compatible", "qwen2.5vl:7b", "reader"),
        ("openai_compatible", "OpenGVLab/InternVL3-8B", "reader"),
        ("openai_compatible", "Qwen/Qwen2.5-7B-Instruct", "unknown"),
        ("openai_compatible", "BAAI/bge-reranker", "none"),
    ],
)
def test_roles_by_ids(backend, model, roles):
    reader = ("writer", "judge", "captioner")
    expected = {"writer": ("writer",), "reader": reader, "none": (), "unknown": None}
    assert find_roles(backend, model) == expected[roles]


def test_families_by_ids():
    ids = ("gpt-6-luna", "o3", "claude-9", "Qwen/Qwen2.5-VL-7B", "llava-hf/llava-1.5", "7b")
    assert [*map(find_family, ids)] == ["gpt", "gpt", "claude", "qwen", "llava", "other"]
