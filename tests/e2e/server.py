"""A real Dagster server on loopback, with an instance and a data root of its own."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import yaml

from tests.ports import free_port

PROJECT = Path(__file__).parents[2]
WITHIN_S = 900
"""How long anything may take, on however busy a machine: no test is of its speed."""

_LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
    ... on RunConfigValidationInvalid { errors { message } }
  }
}
"""

_STATUS = """
query Status($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }
"""

_EVENTS = """
query Events($id: ID!) {
  logsForRun(runId: $id) {
    ... on EventConnection {
      events {
        ... on MessageEvent { message }
        ... on ErrorEvent { error { message cause { message } } }
      }
    }
  }
}
"""

_LOADED = """
query Loaded {
  workspaceOrError {
    ... on Workspace { locationEntries { loadStatus locationOrLoadError { __typename } } }
  }
}
"""


class Server:
    def __init__(self, url, home, pid):
        self.url, self.home, self.pid = url, home, pid

    def graphql(self, query, **variables):
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=WITHIN_S) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def launch(self, assets, *, partition=None, config=None):
        """Start a run as the UI's Materialize button does; returns the launch's answer."""
        tags = [{"key": "dagster/partition", "value": partition}] if partition else []
        return self._launch("__ASSET_JOB", config, tags, [path.split("/") for path in assets])

    def job(self, name, config):
        """Start a run of a job of one op, which has its name, without waiting; its id."""
        launched = self._launch(name, {"ops": {name: {"config": config}}})
        assert launched["__typename"] == "LaunchRunSuccess", launched
        return launched["run"]["runId"]

    def _launch(self, job, config, tags=(), assets=()):
        return self.graphql(
            _LAUNCH,
            params={
                "selector": {
                    "repositoryName": "__repository__",
                    "repositoryLocationName": "definitions.py",
                    "jobName": job,
                    "assetSelection": [{"path": path} for path in assets],
                },
                "runConfigData": json.dumps(config or {}),
                "mode": "default",
                "executionMetadata": {"tags": list(tags)},
            },
        )["launchRun"]

    def run(self, assets, *, partition=None, config=None):
        """Materialize and wait; returns the run's final status."""
        return self.ended(self.started(assets, partition=partition, config=config))

    def started(self, assets, *, partition=None, config=None):
        """Materialize without waiting; returns the run's id."""
        launched = self.launch(assets, partition=partition, config=config)
        assert launched["__typename"] == "LaunchRunSuccess", launched
        return launched["run"]["runId"]

    def ended(self, run):
        """Wait for a run's end; returns its final status."""
        until = time.monotonic() + WITHIN_S
        while time.monotonic() < until:
            status = self.graphql(_STATUS, id=run)["runOrError"]["status"]
            if status in ("SUCCESS", "FAILURE", "CANCELED"):
                return status
            time.sleep(0.5)
        raise TimeoutError(f"the run did not end within {WITHIN_S} s: {self.said(run)}")

    def said(self, run):
        """What a run has logged so far, all its events and errors, as text."""
        return json.dumps(self.graphql(_EVENTS, id=run)["logsForRun"]["events"])


def configured(instance):
    """Make a folder of a Dagster instance: configured as the documents say, but looks more often.

    Where these wait 5 and 10 s, runs that are queued or killed are noticed after 1 s. And what
    starts may take its time.
    """
    config = yaml.safe_load((PROJECT / "dagster.yaml.example").read_text())
    config["run_monitoring"] |= {"poll_interval_seconds": 1, "free_slots_after_run_end_seconds": 1}
    config["run_monitoring"]["start_timeout_seconds"] = WITHIN_S
    config["code_servers"] = {"local_startup_timeout": WITHIN_S}
    often = {"dequeue_interval_seconds": 1}
    config["run_coordinator"] = {
        "module": "dagster",
        "class": "QueuedRunCoordinator",
        "config": often,
    }
    instance.mkdir(parents=True, exist_ok=True)
    (instance / "dagster.yaml").write_text(yaml.safe_dump(config))
    return instance


def working_on(instance):
    """The processes that were started to work on an instance."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("DAGSTER_HOME") == str(instance):
                found.append(process)
    return found


def kill_all(instance):
    """Kill every process that works on an instance, and those that they start meanwhile."""
    until = time.monotonic() + WITHIN_S
    while working := working_on(instance):
        assert time.monotonic() < until, f"these do not end: {working}"
        for process in working:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(working, timeout=1)


@contextmanager
def serving(folder, **more):
    """Run `counterfactory ui` on the instance below `folder` until the block ends.

    `more` is added to its environment.
    """
    instance, home, port = configured(folder / "instance"), folder / "data", free_port()
    environment = os.environ | {"DAGSTER_HOME": str(instance), "COUNTERFACTORY_HOME": str(home)}
    environment |= {"DAGSTER_GRPC_TIMEOUT_SECONDS": str(WITHIN_S)} | more
    command = [sys.executable, "-m", "commands.app", "ui", "--port", str(port)]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=PROJECT, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            server = Server(f"http://127.0.0.1:{port}", home, process.pid)
            wait_until_loaded(server, process, folder / "server.log")
            yield server
        finally:
            kill_all(instance)
            process.wait()


def wait_until_loaded(server, process, log):
    """Until the server answers and has loaded the code location, which it does afterwards."""
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        assert process.poll() is None, f"counterfactory ui ended early:\n{log.read_text()}"
        with suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            entries = server.graphql(_LOADED)["workspaceOrError"].get("locationEntries", [])
            if entries and all(entry["loadStatus"] == "LOADED" for entry in entries):
                kinds = {entry["locationOrLoadError"]["__typename"] for entry in entries}
                assert kinds == {"RepositoryLocation"}, log.read_text()
                return
        time.sleep(0.5)
    raise TimeoutError(f"counterfactory ui did not load:\n{log.read_text()}")
