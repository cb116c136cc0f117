"""Runs, and then all of Dagster, are killed: what they did ends, waits or is gone on with.

One story on two servers, for each takes many seconds to start: a judge in models.yaml is asked, its
run is killed, everything is killed while it is asked again and a run waits, and all starts anew:
the job of one judge over everything does the rest.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

from tests.e2e.server import PROJECT, kill_all, serving, working_on
from tests.providers import Provider

TOPIC, DRAWN_BESIDE = "game_boards", "optical_illusions"
TABLES = ["drawn_images", "original_images", "measurements", "questions"]
DRAWN = "vlmbias/drawn_images"
SMALL = {"resources": {"design": {"config": {"sizes": [384]}}}}
WITHIN_S = 60
CANARY = "sk-canary-5d11aa90ce"
CONCURRENCY = 4
BEFORE_A_KILL = 20
QUICK_S, STUCK_S, SLOW_S = 0.25, 600, 0.7
"""How long the judge takes for an answer: the last run, of some 70 answers, lasts over 10 s."""
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


def judge(server, name="gpt"):
    return server.started([f"vlmbias/answers_{name}"], partition=TOPIC)


def wait_for(condition, seconds=120):
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


def on_the_command_line(folder):
    """Materialize a topic in a process of its own, on the same instance."""
    home = {"DAGSTER_HOME": str(folder / "instance"), "COUNTERFACTORY_HOME": str(folder / "data")}
    command = [sys.executable, "-m", "dagster", "asset", "materialize", "-f", "definitions.py"]
    command += ["--select", DRAWN, "--partition", DRAWN_BESIDE]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=PROJECT, env=os.environ | home, stdout=quiet, stderr=quiet)


def under_way(instance):
    """The runs that have begun and not ended."""
    runs = instance.get_runs()
    return {run.run_id for run in runs if run.status is DagsterRunStatus.STARTED}


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """What came of it all: statuses and words of the runs, requests, and what is on the disk."""
    folder = tmp_path_factory.mktemp("killed")
    with Provider(lambda received: "{8}", latency_s=QUICK_S, key=CANARY) as provider:
        models = folder / "models.yaml"
        models.write_text(MODELS.replace("URL", provider.openai_url))
        environment = {"COUNTERFACTORY_MODELS": str(models), "OPENAI_API_KEY": CANARY}
        found = SimpleNamespace(folder=folder, provider=provider, status={}, said={})
        _told(found, environment)
    return found


def _told(found, environment):
    folder, provider = found.folder, found.provider

    def end(server, name, run, seconds=480):
        found.status[name], found.said[name] = server.ended(run, seconds), server.said(run)

    with (
        serving(folder, **environment) as server,
        DagsterInstance.from_config(str(folder / "instance")) as instance,
    ):
        paths = [f"vlmbias/{name}" for name in TABLES]
        assert server.run(paths, partition=TOPIC, config=SMALL) == "SUCCESS"
        keyless, killed = judge(server, "keyless"), judge(server)
        end(server, "keyless", keyless)
        wait_for(lambda: provider.count >= BEFORE_A_KILL)
        kill(server, killed)
        end(server, "killed", killed)
        after_a_crash = provider.count

        asked = judge(server)
        wait_for(lambda: provider.count >= after_a_crash + BEFORE_A_KILL)
        provider.latency_s = STUCK_S
        by_command = on_the_command_line(folder)
        wait_for(lambda: len(under_way(instance)) == 2)
        (by_hand,) = under_way(instance) - {asked}
        queued = server.started([DRAWN], partition=TOPIC, config=SMALL)
        kill_all(folder / "instance")
        by_command.wait(30)
        found.after_the_plug = provider.count
        provider.latency_s = SLOW_S
    with (
        serving(folder, **environment) as server,
        DagsterInstance.from_config(str(folder / "instance")) as instance,
    ):
        began = time.monotonic()
        end(server, "asked", asked, WITHIN_S)
        end(server, "by hand", by_hand, WITHIN_S)
        found.seconds = time.monotonic() - began
        end(server, "queued", queued)
        everything = {"judge": "gpt", "benchmarks": ["vlmbias"], "no_budget": True}
        whole = server.job("judge_everything", everything)
        end(server, "judge_everything", whole)
        parts = instance.get_runs(RunsFilter(tags={"counterfactory/judged_by": whole}))
        found.parts = [run.asset_selection for run in reversed(parts)]
        end(server, "last", parts[-1].run_id)
    found.answers = pd.read_parquet(folder / "data/vlmbias/answers_gpt" / f"{TOPIC}.parquet")


def test_a_missing_key_is_named(story):
    assert story.status["keyless"] == "FAILURE"
    assert "A_KEY_THAT_IS_NOT_SET is not set" in story.said["keyless"]


def test_what_was_killed_ends_and_what_was_queued_goes_on_within_a_minute(story):
    assert story.status["killed"] == "FAILURE"
    for run in ("asked", "by hand"):
        assert story.status[run] == "FAILURE"
        assert "its process is gone" in story.said[run]
    assert story.seconds < WITHIN_S
    assert story.status["queued"] == "SUCCESS"


def test_a_judge_that_was_cut_off_is_gone_on_with(story):
    assert story.status["last"] == "SUCCESS"
    sent = Counter(received.digest for received in story.provider.received)
    asked = len(story.answers.drop_duplicates(["shown", "prompt"]))
    assert len(sent) == asked
    assert set(story.answers["outcome"]) == {"answered", "unparsed"}, "8 answers no Yes or No"
    assert sum(sent.values()) - len(sent) <= 2 * CONCURRENCY * 3 // 2
    assert story.provider.count - story.after_the_plug <= asked - 2 * (BEFORE_A_KILL - CONCURRENCY)
    told = [int(done) for done in re.findall(r"gpt: (\d+) of", story.said["last"])]
    assert len(told) >= 2, "it tells how far it is while it asks, and at the end"
    assert told == sorted(told)
    assert told[0] < told[-1] == asked


def test_judge_everything_goes_on_with_it_as_runs_and_makes_the_report(story):
    assert story.status["judge_everything"] == "SUCCESS", story.said["judge_everything"]
    assert "The quote:" in story.said["judge_everything"]
    assert [{key.path[1] for key in run} for run in story.parts] == [
        {"answers_gpt"},
        {"accuracy", "report"},
        {"front_page"},
    ]


def test_no_process_is_left(story):
    assert working_on(story.folder / "instance") == []


def test_the_key_is_written_nowhere(story):
    everything = [path for path in story.folder.rglob("*") if path.is_file()]
    assert len(everything) > 50
    assert [path for path in everything if CANARY.encode() in path.read_bytes()] == []
