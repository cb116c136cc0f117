"""All of Dagster is killed: what it was doing ends and what was waiting goes on when it starts."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from dagster import DagsterInstance, DagsterRunStatus

from tests.e2e.server import PROJECT, serving

WITHIN_S = 60
LARGE = {"resources": {"design": {"config": {"sizes": [1024, 1100, 1152]}}}}
SMALL = {"resources": {"design": {"config": {"sizes": [384]}}}}
DRAWN = "vlmbias/drawn_images"


def on_the_command_line(folder):
    """Materialize a topic in a process of its own, on the same instance."""
    home = {"DAGSTER_HOME": str(folder / "instance"), "COUNTERFACTORY_HOME": str(folder / "data")}
    command = [sys.executable, "-m", "dagster", "asset", "materialize", "-f", "definitions.py"]
    command += ["--select", DRAWN, "--partition", "optical_illusions"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=PROJECT, env=os.environ | home, stdout=quiet, stderr=quiet)


def begun(instance, many, seconds=300):
    """The runs that are under way, once there are so many."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        runs = [run for run in instance.get_runs() if run.status is DagsterRunStatus.STARTED]
        if len(runs) == many:
            return {run.run_id for run in runs}
        time.sleep(0.2)
    raise TimeoutError(f"{many} runs did not begin within {seconds} s")


def kill_all(folder):
    """Kill every process that works on the instance, and those that they started."""
    home = f"DAGSTER_HOME={folder / 'instance'}".encode()
    for found in Path("/proc").glob("[0-9]*"):
        try:
            if home in (found / "environ").read_bytes().split(b"\0"):
                os.kill(int(found.name), signal.SIGKILL)
        except OSError:
            continue


def test_what_was_killed_ends_and_what_was_queued_goes_on_within_a_minute(tmp_path):
    with (
        serving(tmp_path) as server,
        DagsterInstance.from_config(str(tmp_path / "instance")) as instance,
    ):
        server.started([DRAWN], partition="game_boards", config=LARGE)
        by_command = on_the_command_line(tmp_path)
        died = begun(instance, 2)
        queued = server.started([DRAWN], partition="game_boards", config=SMALL)
        kill_all(tmp_path)
        by_command.wait(30)
    with serving(tmp_path) as server:
        began = time.monotonic()
        assert {server.ended(run, WITHIN_S) for run in died} == {"FAILURE"}
        assert time.monotonic() - began < WITHIN_S
        for run in died:
            assert "its process is gone" in server.said(run)
        assert server.ended(queued) == "SUCCESS"
