"""Dagster's databases stay open during runs, and hold what they always do."""

import sqlite3
from contextlib import ExitStack

import psycopg2
import pytest
from dagster import DagsterInstance, job, op

from commands.storage import open_instance
from tests.postgres import Postgres, installed

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@op
def step():
    return None


@job
def steps():
    for number in range(5):
        step.alias(f"step_{number}")()


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param(
            "postgres",
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(not installed(), reason="no PostgreSQL server is installed"),
            ],
        ),
    ]
)
def databases(request, tmp_path, monkeypatch):
    """Counts connections to databases; `restart` restarts their server, where there is one."""
    settings, driver = tmp_path / "dagster.yaml", sqlite3.dbapi2
    settings.touch()
    with ExitStack() as servers:
        if request.param == "postgres":
            driver, server = psycopg2, servers.enter_context(Postgres())
            url = server.database().replace(":", "+psycopg2:", 1)
            settings.write_text(f"storage: {{postgres: {{postgres_url: '{url}'}}}}")
        opened, connect = [], driver.connect

        def counting(*arguments, **options):
            opened.append(arguments)
            return connect(*arguments, **options)

        def restart():
            if request.param == "postgres":
                server.stop()
                server.start()

        monkeypatch.setattr(driver, "connect", counting)
        yield opened, restart


def test_a_run_opens_few_connections_and_stores_the_same_events(databases, tmp_path):
    connections, restart = databases
    with DagsterInstance.from_config(str(tmp_path)) as instance:
        usual = steps.execute_in_process(instance=instance, run_config=QUIET)
    many = len(connections)
    with open_instance() as instance:
        steps.execute_in_process(instance=instance, run_config=QUIET)
        restart()
        steps.execute_in_process(instance=instance, run_config=QUIET)
        connections.clear()
        result = steps.execute_in_process(instance=instance, run_config=QUIET)
    assert len(connections) <= 3 < many / 20
    with DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.get_runs_count() == 4
        assert instance.get_run_by_id(result.run_id).is_success
        before, now = (
            [(entry.step_key, entry.dagster_event_type) for entry in instance.all_logs(run_id)]
            for run_id in (usual.run_id, result.run_id)
        )
    assert now == before
    assert len(now) > 20
