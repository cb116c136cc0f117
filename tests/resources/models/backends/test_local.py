"""What the Hugging Face Hub says of a model, over real HTTP, and how it is told to a user."""

import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from resources.models.catalog import load

DOCUMENT = Path(__file__).parents[4] / "docs" / "local-models.md"
CANARY = "hf_canary_5d0c8f"
ASKING = """
import sys
from resources.models.backends.local import commit
from resources.models.catalog import Model
from resources.models.replies import Closed

for name in sys.argv[2:]:
    entry = {"name": "tiny", "backend": "diffusers", "family": "f", "roles": ["painter"]}
    model = Model(**entry, model=name, key="HF_TOKEN")
    try:
        print(commit(model, sys.argv[1], None))
    except Closed as error:
        print(error)
"""
SAID = {"gone": (404, "RepoNotFound"), "gated": (403, "GatedRepo"), "there": (200, "")}
SHA = "89abcdef0123456789abcdef0123456789abcdef"


TOKENS = []


class Hub(BaseHTTPRequestHandler):
    def do_GET(self):
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
def hub():
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def asked(endpoint, home, key, *models):
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(home)}
    environment.pop("HF_HUB_OFFLINE", None)
    run = subprocess.run(
        [sys.executable, "-c", ASKING, key, *models],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=environment,
    )
    assert CANARY not in run.stdout + run.stderr
    return run.stdout.splitlines()


def test_a_model_is_pinned_to_its_commit_or_named_with_what_to_do(hub, tmp_path):
    there, gone, gated = asked(hub, tmp_path, CANARY, "there/model", "gone/model", "gated/model")
    assert there == SHA
    assert gone.startswith("gone/model is no folder, and the Hugging Face Hub does not give")
    assert "set HF_TOKEN if it is gated" in gated
    assert set(TOKENS) == {f"Bearer {CANARY}"}


def test_a_token_that_cannot_be_sent_is_not_shown(hub, tmp_path):
    (said,) = asked(hub, tmp_path, f"{CANARY}\nX-Other: 1", "there/model")
    assert said.startswith("What HF_TOKEN holds has a character in it that no token has")


def test_a_hub_that_does_not_answer_is_said(tmp_path):
    (said,) = asked("http://127.0.0.1:9", tmp_path, CANARY, "there/model")
    assert "hf download there/model" in said


def test_the_entries_in_the_document_are_right(tmp_path):
    shown, *_ = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    entries = tmp_path / "models.yaml"
    entries.write_text(shown, encoding="utf-8")
    assert {model.backend for model in load(entries).models} == {"diffusers", "transformers"}
