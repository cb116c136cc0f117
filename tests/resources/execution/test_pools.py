"""Places in pools on PostgreSQL, where runs of several processes are the first to claim one."""

import subprocess
import sys

import pytest
from dagster import DagsterInstance
from sqlalchemy.exc import InternalError

from resources.execution.dagster_internals import set_pool_limits
from tests.postgres import Postgres, installed

POOLS = [f"pool_{number}" for number in range(20)]

CLAIMS = """
import sys
from dagster import DagsterInstance, DagsterRun
from dagster._core.execution.plan.instance_concurrency_context import InstanceConcurrencyContext
from resources.execution.dagster_internals import set_pool_limits

_, folder, *pools = sys.argv
with DagsterInstance.from_config(folder) as instance:
    run, failures = DagsterRun("job"), 0
    instance.add_run(run)
    print("ready", flush=True)
    input()
    set_pool_limits(instance, pools)
    with InstanceConcurrencyContext(instance, run) as context:
        for pool in pools:
            try:
                context.claim(pool, pool)
            except Exception:
                failures += 1
    instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    print(failures)
"""


class Instance:
    """An instance on PostgreSQL, whose default limit of pools may be changed."""

    def __init__(self, url, folder):
        self._url = url.replace("postgresql:", "postgresql+psycopg2:")
        self.folder = folder

    def default(self, limit):
        """Give pools that default limit, or none."""
        pools = "" if limit is None else f"concurrency: {{pools: {{default_limit: {limit}}}}}\n"
        storage = f'storage: {{postgres: {{postgres_url: "{self._url}"}}}}\n'
        settings = f"{storage}{pools}telemetry: {{enabled: false}}\n"
        (self.folder / "dagster.yaml").write_text(settings)

    def open(self):
        """Open it, as each process does."""
        return DagsterInstance.from_config(str(self.folder))

    def claim(self):
        """Claim places of all pools in two fresh processes at once, and count what failed."""
        command = [sys.executable, "-c", CLAIMS, str(self.folder), *POOLS]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        both = [subprocess.Popen(command, **pipes) for _ in range(2)]
        for process in both:
            assert process.stdout.readline() == "ready\n"
        for process in both:
            process.stdin.write("\n")
            process.stdin.flush()
        return sum(int(process.communicate()[0]) for process in both)

    def limits(self):
        """What each pool is limited to."""
        with self.open() as instance:
            limits = instance.event_log_storage.get_pool_limits()
        return {limit.name: limit.limit for limit in limits}

    def set(self, pool, limit):
        """Do what a user does in the UI."""
        with self.open() as instance:
            instance.event_log_storage.set_concurrency_slots(pool, limit)

    def begin_run(self):
        """Do what a run does first."""
        with self.open() as instance:
            set_pool_limits(instance, POOLS)


@pytest.fixture(scope="module")
def server():
    if not installed():
        pytest.skip("no PostgreSQL server is installed")
    with Postgres() as server:
        yield server


@pytest.fixture
def instance(server, tmp_path):
    instance = Instance(server.database(), tmp_path)
    instance.default(1)
    instance.limits()
    return instance


@pytest.mark.slow
def test_two_fresh_processes_claim_the_same_pools_and_the_default_changes(instance):
    assert instance.claim() == 0
    assert instance.limits() == dict.fromkeys(POOLS, 1)
    instance.set("pool_3", 7)
    instance.default(2)
    assert instance.claim() == 0
    assert instance.limits() == dict.fromkeys(POOLS, 2) | {"pool_3": 7}
    instance.default(None)
    instance.begin_run()
    assert instance.limits() == {"pool_3": 7}


def test_pools_that_dagster_itself_gave_the_default_get_another(instance):
    """It cannot do so: where this fails, Dagster is mended, and need not be here."""
    with instance.open() as dagster:
        for pool in POOLS:
            dagster.event_log_storage.initialize_concurrency_limit_to_default(pool)
    instance.default(2)
    with instance.open() as dagster, pytest.raises(InternalError, match="transaction is aborted"):
        dagster.event_log_storage.initialize_concurrency_limit_to_default(POOLS[0])
    assert instance.limits() == dict.fromkeys(POOLS, 1)
    instance.begin_run()
    assert instance.limits() == dict.fromkeys(POOLS, 2)
