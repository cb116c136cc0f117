"""Runs, and then all of Dagster, are killed: what they did ends, waits or is gone on with.

One story on two servers, for each takes many seconds to start: a topic is made, a judge in
models.yaml is asked, its run is killed, everything is killed while it is asked again and a run
waits, painters are added to models.yaml, and all starts anew: the job of one judge over everything
does the rest. `test_new_model` goes on with the painters.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, closing, contextmanager

import pandas as pd
import psutil
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

from assets.kit.partitions import add_painters
from resources.calls import CallStore
from resources.calls.database_url import build_sqlite_url
from resources.execution.executors import find_process
from resources.models.catalog import load_catalog
from tests.e2e.painters import EARLIER, JUDGE, OLD, PATTERN, Answers
from tests.e2e.server import PROJECT, WITHIN_S, serving
from tests.providers import Provider
from tests.waiting import wait_for

TOPIC = "game_boards"
TABLES = ["drawn_images", "original_images", "measurements", "questions"]
ANSWERS = ["answers_prior", "answers_pixels"]
DRAWN = "vlmbias/drawn_images"
LIMIT = 100
"""Of so many questions the judge is asked; there are more."""
ASKING = {"ops": {"vlmbias__answers_gpt": {"config": {"limit": LIMIT}}}}
CANARY = "sk-canary-5d11aa90ce"
CONCURRENCY = 4
BEFORE_A_KILL = 20
"""So many answers are stored when a run is killed; the others wait."""
SLOW_S = 1.2
"""How long the judge takes for an answer then: the last run, of half of them, lasts over 10 s."""
STAND_INS = """
- {name: prior, backend: stand_in, model: prior, family: stand_in, roles: [judge]}
- {name: pixels, backend: stand_in, model: pixels, family: stand_in, roles: [judge]}
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
        self.environment = {"COUNTERFACTORY_MODELS": str(self.models), "OPENAI_API_KEY": CANARY}
        self._servers = ExitStack()

    def write_models(self, *entries):
        """Write models.yaml anew: what was added above, and more entries."""
        text = "".join([ADDED, *entries])
        self.models.write_text(text.replace("URL", self.provider.openai_url))

    def serve(self):
        """Start a server, which runs until it is ended."""
        self.server = self._servers.enter_context(serving(self.folder, **self.environment))

    def end(self):
        """End the server, and all that works on its instance."""
        self._servers.close()

    def ended(self, name, run):
        """Wait for a run and keep what came of it, by name."""
        self.status[name] = self.server.ended(run)
        self.said[name], self.count[name] = self.server.said(run), self.provider.count

    def answer_alone(self, number):
        """Answer so many more requests, and let those after them wait."""
        received, whole = self.provider.received, self.provider.count + number
        self.provider.held = lambda each: each not in received[:whole]

    def answered(self):
        """How many of the judge's answers are stored."""
        with closing(CallStore(url=build_sqlite_url(self.home / "calls.sqlite"))) as calls:
            return sum(call.model == JUDGE for call in calls.iterate_calls(calls.iterate_keys()))

    def first_look(self, since):
        """What `interrupted_runs` said of its first look after a time, once that look is over."""
        with self.instance() as instance:
            [sensor] = [
                each
                for each in instance.all_instigator_state()
                if each.instigator_name == "interrupted_runs"
            ]
            looks = instance.get_ticks(sensor.instigator_origin_id, sensor.selector_id, after=since)
        return min(looks, key=lambda each: each.timestamp).skip_reason

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
    with Provider(Answers(), key=CANARY) as provider:
        story = Story(folder, provider)
        try:
            for chapter in (_until_all_is_killed, _afterwards):
                chapter(story)
            yield story
        finally:
            story.end()


def _until_all_is_killed(story):
    story.write_models(STAND_INS)
    story.serve()
    server, provider = story.server, story.provider
    paths = [f"vlmbias/{name}" for name in TABLES + ANSWERS]
    assert server.run(paths, partition=TOPIC) == "SUCCESS"
    story.answer_alone(BEFORE_A_KILL)
    killed = _judge(server)
    wait_for(lambda: provider.count > BEFORE_A_KILL and story.answered() == BEFORE_A_KILL)
    _kill(server, killed)
    story.ended("killed", killed)

    story.answer_alone(BEFORE_A_KILL)
    story.asked = _judge(server)
    again = story.count["killed"] + BEFORE_A_KILL
    wait_for(lambda: provider.count > again and story.answered() == 2 * BEFORE_A_KILL)
    by_command = _on_the_command_line(story)
    with story.instance() as instance:
        wait_for(lambda: len(_under_way(instance)) == 2)
        (story.by_hand,) = _under_way(instance) - {story.asked}
    story.queued = server.started([DRAWN], partition=TOPIC)
    story.end()
    by_command.wait(WITHIN_S)
    story.after_the_plug = provider.count
    provider.held, provider.latency_s = lambda _: False, SLOW_S


def _afterwards(story):
    story.write_models(STAND_INS, EARLIER, PATTERN)
    story.provider.models["openai"] = ["gpt-5-mini", OLD]
    with story.instance() as instance:
        # As a command does that is used before the sensor looks.
        add_painters(instance, load_catalog(story.models))
    began = time.time()
    story.serve()
    story.ended("asked", story.asked)
    story.ended("by hand", story.by_hand)
    story.ended("queued", story.queued)
    _save_by_halves(story)
    everything = {"judge": "gpt", "benchmarks": ["vlmbias"], "limit": LIMIT, "budget_usd": 5.0}
    whole = story.server.job("judge_everything", everything)
    story.ended("judge_everything", whole)
    story.looked = story.first_look(began)
    with story.instance() as instance:
        parts = instance.get_runs(RunsFilter(tags={"counterfactory/judged_by": whole}))
    story.parts = [*reversed(parts)]
    story.ended("last", story.parts[0].run_id)
    story.answers = pd.read_parquet(story.home / "vlmbias/answers_gpt" / f"{TOPIC}.parquet")
    story.ended("whole again", story.unbegun)
    story.judged = [each.digest for each in story.provider.received if each.model == JUDGE]
    story.provider.latency_s = 0.0


def _save_by_halves(story):
    """Let runs start while models.yaml has a mistake, and while an editor has emptied it."""
    whole = story.models.read_text()
    story.models.write_text(whole.replace("backend: openai", "backend: opena"))
    story.ended("with a mistake", story.server.started(["vlmbias/answers_prior"], partition=TOPIC))
    story.models.write_text("")
    story.unbegun = story.server.started(["vlmbias/answers_prior"], partition=TOPIC)
    story.ended("emptied", story.unbegun)
    story.models.write_text(whole)


def _judge(server):
    return server.started(["vlmbias/answers_gpt"], partition=TOPIC, config=ASKING)


def _kill(server, run):
    """End the process of a run and that of its only step, which the run's events name."""
    named = {int(pid) for pid in re.findall(r"\(pid: (\d+)\)", server.said(run))}
    children = psutil.Process(server.pid).children(recursive=True)
    processes = [process for process in children if process.pid in named]
    assert len(processes) == len(named)
    for process in processes:
        process.send_signal(signal.SIGKILL)


def _on_the_command_line(story):
    """Ask the judge the same in a process of its own, on the same instance."""
    home = {"DAGSTER_HOME": story.folder / "instance", "COUNTERFACTORY_HOME": story.home}
    environment = os.environ | story.environment | {name: str(of) for name, of in home.items()}
    command = [sys.executable, "-m", "dagster", "asset", "materialize", "-f", "definitions.py"]
    command += ["--select", "vlmbias/answers_gpt", "--partition", TOPIC]
    command += ["--config-json", json.dumps(ASKING)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=quiet, stderr=quiet)


def _under_way(instance):
    """The runs that have begun, as they have noted, and not ended."""
    runs = instance.get_runs(RunsFilter(statuses=[DagsterRunStatus.STARTED]))
    return {run.run_id for run in runs if find_process(run)}
