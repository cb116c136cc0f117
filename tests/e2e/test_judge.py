"""A judge in models.yaml, asked through Dagster: cut off in the middle, and gone on with."""

import os
import re
import signal
import time
from collections import Counter

import pandas as pd
import psutil
import pytest

from tests.e2e.server import serving
from tests.providers import Provider

TOPIC = "game_boards"
TABLES = ["drawn_images", "original_images", "measurements", "questions"]
CANARY = "sk-canary-5d11aa90ce"
CONCURRENCY = 4
MODELS = """
- {name: prior, backend: offline, model: prior, family: reference, roles: [judge]}
- name: gpt
  backend: openai
  model: gpt-test
  family: gpt
  roles: [judge]
  base_url: URL
  concurrency: 4
- name: keyless
  backend: openai
  model: gpt-other
  family: gpt
  roles: [judge]
  key: A_KEY_THAT_IS_NOT_SET
"""


@pytest.fixture
def provider():
    with Provider(lambda received: "{8}", latency_s=0.25, key=CANARY) as provider:
        yield provider


@pytest.fixture
def environment(provider, tmp_path):
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.replace("URL", provider.openai_url))
    return {"COUNTERFACTORY_MODELS": str(models), "OPENAI_API_KEY": CANARY}


def judge(server, name="gpt"):
    return server.started([f"vlmbias/answers_{name}"], partition=TOPIC)


def wait_for(condition, seconds=90):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def kill(server, run):
    """End the processes of a run, as the events of the run name them."""
    named = {int(pid) for pid in re.findall(r"\(pid: (\d+)\)", server.said(run))}
    assert len(named) >= 2, "the run's own process and that of its step"
    for process in psutil.Process(server.pid).children(recursive=True):
        if process.pid in named:
            process.send_signal(signal.SIGKILL)


def answers(server):
    return pd.read_parquet(server.home / "vlmbias" / "answers_gpt" / f"{TOPIC}.parquet")


def test_a_missing_key_is_named_and_a_run_that_is_cut_off_is_gone_on_with(
    provider, environment, tmp_path
):
    with serving(tmp_path, **environment) as server:
        paths = [f"vlmbias/{name}" for name in TABLES]
        assert server.run(paths, partition=TOPIC) == "SUCCESS"

        keyless = judge(server, "keyless")
        assert server.ended(keyless) == "FAILURE"
        assert "A_KEY_THAT_IS_NOT_SET is not set" in server.said(keyless)

        cut_off = judge(server)
        wait_for(lambda: provider.count >= 60)
        kill(server, cut_off)
        assert server.ended(cut_off) == "FAILURE"
        after_a_crash = provider.count

        cut_off = judge(server)
        wait_for(lambda: provider.count >= after_a_crash + 60)
        os.killpg(server.pid, signal.SIGKILL)
        time.sleep(0.5)
        after_the_plug = provider.count

    with serving(tmp_path, **environment) as server:
        last = judge(server)
        assert server.ended(last) == "SUCCESS"
        table = answers(server)
        said = server.said(last)

    sent = Counter(received.digest for received in provider.received)
    asked = len(table.drop_duplicates(["shown", "prompt"]))
    assert len(sent) == asked
    assert set(table["outcome"]) == {"answered", "unparsed"}, "8 answers no Yes or No"
    assert sum(sent.values()) - len(sent) <= 2 * CONCURRENCY * 3 // 2
    assert provider.count - after_the_plug < asked - 100
    told = [int(done) for done in re.findall(r"gpt: (\d+) of", said)]
    assert len(told) >= 2, "it tells how far it is while it asks, and at the end"
    assert told == sorted(told)
    assert told[0] < told[-1] == asked
    everything = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(everything) > 100
    assert [path for path in everything if CANARY.encode() in path.read_bytes()] == []
