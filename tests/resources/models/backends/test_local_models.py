"""What the Hugging Face Hub says of a model, over real HTTP, and how it is told to a user."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Thread

import pytest

from resources.models.backends.local_models import ModelFiles
from resources.models.catalog import Model, load_catalog

DOCUMENT = Path(__file__).parents[4] / "docs" / "local-models.md"
CANARY = "hf_canary_5d0c8f"
ASKING = """
import sys
from resources.models.backends.local_models import resolve_commit
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable

for name, key in zip(sys.argv[1::2], sys.argv[2::2]):
    entry = {"name": "tiny", "backend": "diffusers", "family": "f", "roles": ["painter"]}
    model = Model(**entry, model=name, key="HF_TOKEN")
    try:
        print(resolve_commit(model, key, None))
    except ModelUnavailable as error:
        print(error)
"""
SAID = {"gone": (404, "RepoNotFound"), "gated": (403, "GatedRepo"), "there": (200, "")}
SHA = "89abcdef0123456789abcdef0123456789abcdef"


TOKENS = []


class Hub(BaseHTTPRequestHandler):
    def do_GET(self):
        if "/mute/" in self.path:
            return
        status, code = next((SAID[name] for name in SAID if f"/{name}/" in self.path), (404, ""))
        if code or status == 200:  # What else the library asks for is its own affair.
            TOKENS.append(self.headers.get("authorization"))
        body = b'{"id": "there/model", "sha": "%s", "siblings": []}' % SHA.encode()
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What is told of each model; of all in one process, which takes seconds to import torch."""
    asked = {
        "there/model": CANARY,
        "gone/model": CANARY,
        "gated/model": CANARY,
        "mute/model": CANARY,
        "torn/model": f"{CANARY}\nX-Other: 1",
    }
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        endpoint, home = f"http://127.0.0.1:{server.server_port}", tmp_path_factory.mktemp("hub")
        environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(home)}
        environment.pop("HF_HUB_OFFLINE", None)
        run = subprocess.run(
            [sys.executable, "-c", ASKING, *(word for pair in asked.items() for word in pair)],
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
            env=environment,
        )
        server.shutdown()
    assert CANARY not in run.stdout + run.stderr
    return dict(zip(asked, run.stdout.splitlines(), strict=True))


def test_a_model_is_pinned_to_its_commit_or_named_with_what_to_do(told):
    assert told["there/model"] == SHA
    assert told["gone/model"].startswith(
        "gone/model is no folder, and the Hugging Face Hub does not give"
    )
    assert "set HF_TOKEN if it is gated" in told["gated/model"]
    assert set(TOKENS) == {f"Bearer {CANARY}"}


def test_a_token_that_cannot_be_sent_is_not_shown(told):
    said = told["torn/model"]
    assert said.startswith("The API key of tiny has a character that no key has")


def test_a_hub_that_does_not_answer_is_said(told):
    assert "hf download mute/model" in told["mute/model"]


def test_the_entries_in_the_document_are_right(tmp_path):
    shown, *_ = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    entries = tmp_path / "models.yaml"
    entries.write_text(shown, encoding="utf-8")
    assert {model.backend for model in load_catalog(entries).models} == {
        "diffusers",
        "transformers",
    }


def test_models_load_one_after_the_other(tmp_path):
    """transformers replaces its own functions while it loads: two at once leave them replaced."""
    together = Barrier(2)
    meetings = []

    class Kind:
        @staticmethod
        def from_pretrained(*_, **__):
            with suppress(BrokenBarrierError):
                meetings.append(together.wait(0.1))

    entry = Model(
        name="m", backend="transformers", family="m", model=str(tmp_path), roles=("judge",)
    )
    files = ModelFiles(entry, None, None)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(files.load, [Kind, Kind]))
    assert meetings == []
