"""Runs, and then all of Dagster, are killed: what they did ends, waits or is gone on with.

One story on two servers, for each takes many seconds to start: a topic is made, a judge in
models.yaml is asked, its run is killed, everything is killed while it is asked again and a run
waits, painters are added to models.yaml, and all starts anew: the job of one judge over everything
does the rest. `test_new_model` goes on with the painters.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager

import pandas as pd
import psutil
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

from assets.kit.partitions import add_painters
from resources.models.catalog import load
from tests.e2e.painters import EARLIER, JUDGE, OLD, PATTERN, Answers
from tests.e2e.server import PROJECT, serving
from tests.providers import Provider

TOPIC, DRAWN_BESIDE = "game_boards", "optical_illusions"
TABLES = ["drawn_images", "original_images", "measurements", "questions"]
ANSWERS = ["answers_prior", "answers_pixels"]
DRAWN = "vlmbias/drawn_images"
LIMIT = 100
"""Of so many questions the judge is asked; there are more."""
WITHIN_S = 60
CANARY = "sk-canary-5d11aa90ce"
CONCURRENCY = 4
BEFORE_A_KILL = 20
QUICK_S, STUCK_S, SLOW_S = 0.25, 600, 1.2
"""How long the judge takes for an answer: the last run, of about half of them, lasts over 10 s."""
REFERENCES = """
- {name: prior, backend: offline, model: prior, family: reference, roles: [judge]}
- {name: pixels, backend: offline, model: pixels, family: reference, roles: [judge]}
"""
"""What a user has left in models.yaml."""
ADDED = f"""
- name: gpt
  backend: openai
  model: {JUDGE}
  family: gpt
  roles: [judge, captioner]
  base_url: URL
  concurrency: {CONCURRENCY}
  longest_output: 1000
  price: {{input_per_million: 2.0, output_per_million: 8.0, batch_share: 0.5}}
"""
"""What the user has added: a quote is of these and of references alone."""


class Story:
    """What came of it: how runs ended, what they said, how much was asked by then."""

    def __init__(self, folder, provider):
        self.folder, self.provider, self.home = folder, provider, folder / "data"
        self.models = folder / "models.yaml"
        self.status, self.said, self.count = {}, {}, {}
        self._servers = ExitStack()

    def write_models(self, *entries):
        """Write models.yaml anew: what was added above, and more entries."""
        text = "".join([ADDED, *entries])
        self.models.write_text(text.replace("URL", self.provider.openai_url))

    def serve(self):
        """Start a server, which runs until it is ended."""
        environment = {"COUNTERFACTORY_MODELS": str(self.models), "OPENAI_API_KEY": CANARY}
        self.server = self._servers.enter_context(serving(self.folder, **environment))

    def end(self):
        """End the server, and all that works on its instance."""
        self._servers.close()

    def ended(self, name, run, seconds=480):
        """Wait for a run and keep what came of it, by name."""
        self.status[name] = self.server.ended(run, seconds)
        self.said[name], self.count[name] = self.server.said(run), self.provider.count

    def requests(self, since=0):
        """How many requests each model got, those for lists of models left out."""
        received = self.provider.received[since:]
        return Counter(each.model for each in received if each.task != "models")

    def instance(self):
        """The instance of Dagster, beside the server."""
        return DagsterInstance.from_config(str(self.folder / "instance"))


@contextmanager
def told(folder):
    """Let it all happen; the second server is still there in the block."""
    with Provider(Answers(), latency_s=QUICK_S, key=CANARY) as provider:
        story = Story(folder, provider)
        try:
            for chapter in (_until_all_is_killed, _afterwards):
                chapter(story)
            yield story
        finally:
            story.end()


def _until_all_is_killed(story):
    story.write_models(REFERENCES)
    story.serve()
    server, provider = story.server, story.provider
    paths = [f"vlmbias/{name}" for name in TABLES + ANSWERS]
    assert server.run(paths, partition=TOPIC) == "SUCCESS"
    killed = _judge(server)
    _wait_for(lambda: provider.count >= BEFORE_A_KILL)
    _kill(server, killed)
    story.ended("killed", killed)

    story.asked = _judge(server)
    _wait_for(lambda: provider.count >= story.count["killed"] + BEFORE_A_KILL)
    provider.latency_s = STUCK_S
    by_command = _on_the_command_line(story.folder)
    with story.instance() as instance:
        _wait_for(lambda: len(_under_way(instance)) == 2)
        (story.by_hand,) = _under_way(instance) - {story.asked}
    story.queued = server.started([DRAWN], partition=TOPIC)
    story.end()
    by_command.wait(30)
    story.after_the_plug = provider.count
    provider.latency_s = SLOW_S


def _afterwards(story):
    story.write_models(REFERENCES, EARLIER, PATTERN)
    story.provider.models["openai"] = ["gpt-5-mini", OLD]
    with story.instance() as instance:
        # So that it is no new one, which would be quoted.
        add_painters(instance, load(story.models))
    story.serve()
    began = time.monotonic()
    story.ended("asked", story.asked, WITHIN_S)
    story.ended("by hand", story.by_hand, WITHIN_S)
    story.seconds = time.monotonic() - began
    story.ended("queued", story.queued)
    everything = {"judge": "gpt", "benchmarks": ["vlmbias"], "limit": LIMIT, "budget_usd": 5.0}
    whole = story.server.job("judge_everything", everything)
    story.ended("judge_everything", whole)
    with story.instance() as instance:
        parts = instance.get_runs(RunsFilter(tags={"counterfactory/judged_by": whole}))
    story.parts = [*reversed(parts)]
    story.ended("last", story.parts[0].run_id)
    story.answers = pd.read_parquet(story.home / "vlmbias/answers_gpt" / f"{TOPIC}.parquet")
    story.judged = [each.digest for each in story.provider.received if each.model == JUDGE]
    story.provider.latency_s = 0.0


def _judge(server):
    config = {"ops": {"vlmbias__answers_gpt": {"config": {"limit": LIMIT}}}}
    return server.started(["vlmbias/answers_gpt"], partition=TOPIC, config=config)


def _wait_for(condition, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def _kill(server, run):
    """End the process of a run, in which its only step is, as all events of the run say."""
    [named] = {int(pid) for pid in re.findall(r"\(pid: (\d+)\)", server.said(run))}
    [process] = [
        each for each in psutil.Process(server.pid).children(recursive=True) if each.pid == named
    ]
    process.send_signal(signal.SIGKILL)


def _on_the_command_line(folder):
    """Materialize a topic in a process of its own, on the same instance."""
    home = {"DAGSTER_HOME": str(folder / "instance"), "COUNTERFACTORY_HOME": str(folder / "data")}
    command = [sys.executable, "-m", "dagster", "asset", "materialize", "-f", "definitions.py"]
    command += ["--select", DRAWN, "--partition", DRAWN_BESIDE]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=PROJECT, env=os.environ | home, stdout=quiet, stderr=quiet)


def _under_way(instance):
    """The runs that have begun and not ended."""
    runs = instance.get_runs()
    return {run.run_id for run in runs if run.status is DagsterRunStatus.STARTED}
