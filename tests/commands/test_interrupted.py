"""Ending a command from outside: nothing new is sent, what is in flight is kept.

One story on one data root, for each command takes seconds to start: SIGTERM, Ctrl-C on a terminal,
which reaches all processes of the command, and a kill of the command alone.
"""

import os
import signal
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from dagster import DagsterInstance, RunsFilter

from resources.calls import CallStore
from resources.calls.database_url import build_sqlite_url
from tests.providers import Provider
from tests.runs import TOPIC, few_scenes, materialize
from tests.waiting import wait_for

PROJECT = Path(__file__).parents[2]
CONCURRENCY, ANSWERED = 2, 3
"""So many requests are in flight when a command is ended, after so many answers."""
WITHIN_S = 300
OTHER = "flags"
MODELS = f"""
- name: gpt
  backend: openai
  model: gpt-test
  family: gpt
  roles: [judge]
  base_url: URL
  concurrency: {CONCURRENCY}
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with the questions of two topics."""
    folder = tmp_path_factory.mktemp("interrupted")
    with few_scenes():
        names = ("drawn_images", "original_images", "measurements", "questions")
        assert materialize(folder / "data", *names, topic=TOPIC).success
    questions = folder / "data" / "vlmbias" / "questions"
    (questions / f"{OTHER}.parquet").write_bytes((questions / f"{TOPIC}.parquet").read_bytes())
    (folder / "dagster.yaml").write_text("{telemetry: {enabled: false}, nux: {enabled: false}}")
    return folder


@pytest.fixture(scope="module")
def story(prepared, forks):
    """By signal: how the command ended, and how many requests and answers there were then."""
    found = {}
    environment = {
        "COUNTERFACTORY_MODELS": prepared / "models.yaml",
        "COUNTERFACTORY_HOME": prepared / "data",
        "DAGSTER_HOME": prepared,
        "OPENAI_API_KEY": "sk-test",
        "PYTHONPATH": PROJECT,
    }
    run = ("run", "vlmbias/answers_gpt", "--partitions", f"{TOPIC},{OTHER}")
    judge = ("judge", "gpt", "--benchmark", "vlmbias", "--no-budget")
    with Provider(lambda received: "{8}") as provider:
        (prepared / "models.yaml").write_text(MODELS.replace("URL", provider.openai_url))
        for name, command, send in (
            ("SIGTERM", run, lambda pid: os.kill(pid, signal.SIGTERM)),
            ("Ctrl-C", judge, lambda pid: os.killpg(pid, signal.SIGINT)),
            ("SIGKILL", run, lambda pid: os.kill(pid, signal.SIGKILL)),
        ):
            before = provider.count
            hold_after(provider, before + ANSWERED)
            process = forks.start("-m", "commands.app", *command, cwd=prepared, **environment)
            wait_for(lambda first=before: provider.count == first + ANSWERED + CONCURRENCY, process)
            send(process.pid)
            killed_at = time.monotonic()
            wait_for(lambda: "Nothing more is sent" in latest_log(prepared))
            noticed_s = time.monotonic() - killed_at
            provider.held = lambda _: False
            process.wait()
            wait_for(lambda: provider.in_flight == 0 and count_claims(prepared) == 0)
            found[name] = SimpleNamespace(
                code=process.returncode,
                out=process.stdout,
                err=process.stderr,
                noticed_s=noticed_s,
                sent=provider.count - before,
                unanswered=provider.count - count_answers(prepared),
                runs=len(runs(prepared)),
            )
    return found


def hold_after(provider, number):
    """Let no request be answered but the first so many."""
    first = provider.received
    provider.held = lambda each: each not in first[:number]


def runs(folder):
    with DagsterInstance.from_config(str(folder)) as instance:
        return instance.get_runs(RunsFilter(job_name="__ASSET_JOB"))


def latest_log(folder):
    """What the latest run has logged so far."""
    with DagsterInstance.from_config(str(folder)) as instance:
        latest, *_ = instance.get_runs(limit=1)
        return "\n".join(entry.user_message for entry in instance.all_logs(latest.run_id))


def count_answers(folder):
    with closing(CallStore(url=build_sqlite_url(folder / "data" / "calls.sqlite"))) as calls:
        return len(list(calls.iterate_keys()))


def count_claims(folder):
    with closing(CallStore(url=build_sqlite_url(folder / "data" / "calls.sqlite"))) as calls:
        return calls._run(
            lambda connection, _: connection.exec_driver_sql("SELECT count(*) FROM claims").scalar()
        )


@pytest.mark.parametrize("name", ["SIGTERM", "Ctrl-C", "SIGKILL"])
def test_nothing_new_is_sent_and_what_is_in_flight_is_kept(story, name):
    assert story[name].sent == ANSWERED + CONCURRENCY
    assert story[name].unanswered == 0


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("Ctrl-C", 130)])
def test_a_line_says_what_is_kept_and_the_next_partition_is_not_begun(story, name, code):
    assert story[name].code == code
    assert story[name].err.splitlines() == [f"Interrupted: {ANSWERED + CONCURRENCY} answers kept."]
    assert "vlmbias/answers_gpt" not in story[name].out, "no table of what was made"
    assert story[name].runs == ["SIGTERM", "Ctrl-C"].index(name) + 1


BACKGROUND = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from commands.app import main
main()
"""
"""A command as a script starts it in its background."""


@pytest.mark.parametrize("program", [("-m", "commands.app"), ("-c", BACKGROUND)])
@pytest.mark.parametrize(("received", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_command_that_starts_no_run_says_that_what_is_finished_is_kept(
    tmp_path, prepared, forks, program, received, code
):
    """It waits for a cassette that nobody writes."""
    cassette = tmp_path / "cassette"
    os.mkfifo(cassette)
    process = forks.start(*program, "import", cassette, cwd=prepared)
    kernel_function = Path(f"/proc/{process.pid}/wchan")
    wait_for(lambda: kernel_function.read_text() == "wait_for_partner", process)
    process.send_signal(received)
    process.wait()
    assert (process.returncode, process.stdout) == (code, "")
    assert process.stderr == "Interrupted: what is finished is kept.\n"


def test_a_step_whose_command_was_killed_stops_within_five_seconds(story):
    assert story["SIGKILL"].noticed_s < 5
