"""What is used of Dagster beside its public names does what it is used for."""

import re
from collections import Counter
from importlib.util import find_spec
from inspect import unwrap
from pathlib import Path

import dagster as dg
import pytest
from alembic.script import ScriptDirectory
from dagster._cli import dev
from dagster._core.definitions.assets.job import asset_job
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from sqlalchemy.pool import NullPool

from resources.execution import dagster_internals as internals
from resources.settings.run_config import Config

PROJECT = Path(__file__).parents[3]
FOLDERS = ("assets", "commands", "generators", "metrics", "resources", "sensors")


def test_one_file_imports_what_is_private():
    files = {path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.py")}
    private = re.compile(r"^\s*(from|import) dagster\w*\._|^\s*from dagster\w* import _", re.M)
    using = [
        path for path in {*files, PROJECT / "definitions.py"} if private.search(path.read_text())
    ]
    assert using == [Path(internals.__file__)]


class Sizes(Config):
    size: int = 1


@dg.asset
def drawn(config: Sizes) -> None: ...


@dg.asset
def measured(drawn) -> None: ...


def test_types_are_those_of_what_dagster_gives():
    definitions = dg.Definitions([drawn], jobs=[job := dg.define_asset_job("draw", "*")])
    assert isinstance(job, internals.AssetJob)
    assert isinstance(definitions.resolve_asset_graph(), internals.BaseAssetGraph)


def test_an_asset_tells_its_config_and_its_code():
    step = internals.Staleness(None, dg.Definitions([drawn]).resolve_asset_graph())

    @dg.asset
    def made() -> object:
        return step

    assert internals.find_config_class(drawn) is Sizes
    assert internals.find_config_class(measured) is None
    assert {__name__, internals.__name__} <= internals.find_code_modules(made)


@pytest.mark.parametrize(("version", "is_fresh"), [("1", True), ("2", False)])
def test_staleness_goes_by_code_versions(version, is_fresh):
    def define(version):
        return dg.asset(code_version=version, name="drawn")(lambda: None)

    with dg.DagsterInstance.ephemeral() as instance:
        dg.materialize([define("1")], instance=instance)
        graph = dg.Definitions([define(version)]).resolve_asset_graph()
        assert internals.Staleness(instance, graph).is_fresh(dg.AssetKey("drawn"), None) is is_fresh


def test_a_run_of_a_cancelled_backfill_is_known():
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize([drawn], instance=instance, tags={internals.BACKFILL_ID_TAG: "one"})
        run = instance.get_run_by_id(result.run_id)
        assert not internals.is_backfill_cancelled(instance, run)
        states = {}
        for status in (BulkActionStatus.REQUESTED, BulkActionStatus.CANCELED):
            backfill = PartitionBackfill(
                backfill_id="one",
                status=status,
                from_failure=False,
                tags={},
                backfill_timestamp=0.0,
            )
            add = instance.update_backfill if states else instance.add_backfill
            add(backfill)
            states[status.value] = internals.is_backfill_cancelled(instance, run)
    assert states == {"REQUESTED": False, "CANCELED": True}


def test_tags_are_those_that_dagster_shows():
    tags = (internals.BACKFILL_ID_TAG, internals.SCHEDULE_NAME_TAG, internals.SENSOR_NAME_TAG)
    assert tags == ("dagster/backfill", "dagster/schedule_name", "dagster/sensor_name")
    assert internals.GRPC_INFO_TAG == ".dagster/grpc_info"


def test_the_default_storage_is_of_the_module_that_is_loaded_once(tmp_path):
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        assert instance.get_ref().storage.__class__.__module__ == internals.STORAGE_MODULE


def test_each_database_has_one_engine(tmp_path, monkeypatch):
    for module in (sqlite_event_log, sqlite_run_storage):
        monkeypatch.setattr(module, "create_engine", module.create_engine)
    internals.share_database_engines()
    address = f"sqlite:///{tmp_path}/runs.db"
    for module in (sqlite_event_log, sqlite_run_storage):
        one, other = (module.create_engine(address, poolclass=NullPool) for _ in range(2))
        assert one is other


def test_the_database_of_a_second_run_reads_no_migrations(tmp_path, monkeypatch):
    # Other tests' runs read them once as well.
    monkeypatch.setattr(ScriptDirectory, "from_config", unwrap(ScriptDirectory.from_config))
    internals.read_migrations_once()
    storage = sqlite_event_log.SqliteEventLogStorage(str(tmp_path))
    with storage.run_connection("first") as connection:
        query = "SELECT version_num FROM alembic_version"
        version = connection.exec_driver_sql(query).scalar()

    def load(_):
        raise AssertionError("89 files are read again")

    monkeypatch.setattr(ScriptDirectory, "_load_revisions", load)
    with storage.run_connection("second") as connection:
        assert connection.exec_driver_sql(query).scalar() == version is not None


def test_steps_load_nothing_of_what_was_prepared_before_their_fork(tmp_path, monkeypatch):
    for module in (sqlite_event_log, sqlite_run_storage):
        monkeypatch.setattr(module, "create_engine", module.create_engine)
    monkeypatch.setattr(ScriptDirectory, "from_config", unwrap(ScriptDirectory.from_config))
    repository = dg.Definitions(assets=[drawn]).get_repository_def()
    internals.prepare_forked_steps(repository)

    def load(*_, **__):
        raise AssertionError("it is loaded again")

    monkeypatch.setattr(ScriptDirectory, "_load_revisions", load)
    monkeypatch.setattr(asset_job, "build_asset_job", load)
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        job = repository.get_job(internals.ASSET_JOB)
        assert job.execute_in_process(instance=instance).success


def test_log_handlers_are_set_up_once(tmp_path, monkeypatch):
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        internals.read_log_handlers_once(instance)

        def configure(_):
            raise AssertionError("all handlers are closed")

        monkeypatch.setattr("logging.config.dictConfig", configure)
        assert dg.materialize([drawn], instance=instance).success


def test_an_instance_looks_once_for_a_table_and_a_column(monkeypatch):
    looked_for = []

    def note(_storage, name):
        looked_for.append(name)
        return True

    for method in ("has_table", "has_asset_key_col"):
        monkeypatch.setattr(sqlite_event_log.SqliteEventLogStorage, method, note)

    def materialize_twice(instance):
        looked_for.clear()
        for _ in range(2):
            dg.materialize([drawn], instance=instance)
            assert instance.event_log_storage.can_read_asset_status_cache()
        return Counter(looked_for)

    with dg.DagsterInstance.local_temp() as instance:
        assert min(materialize_twice(instance).values()) > 1
        internals.look_for_tables_once(instance)
        assert materialize_twice(instance) == {"asset_event_tags": 1, "cached_status_data": 1}


def test_dagster_dev_starts_processes_by_a_function_that_can_be_replaced(monkeypatch):
    started = []

    def run(arguments, **options):
        for name in ("dagster_webserver", "dagster._daemon"):
            assert find_spec(f"{name}.__main__")
            vars(dev)["open_ipc_subprocess"](["python", "-m", name, "--port", "1"])
        started.append((arguments, options["prog_name"]))

    monkeypatch.setattr(dev, "dev_command", run)
    monkeypatch.setattr(dev, "open_ipc_subprocess", started.append)
    modules = {"dagster_webserver": "ours", "dagster._daemon": "dagster._daemon"}
    internals.run_dagster_dev(["--port", "3"], modules)
    assert started == [
        ["python", "-m", "ours", "--port", "1"],
        ["python", "-m", "dagster._daemon", "--port", "1"],
        (["--port", "3"], "counterfactory ui"),
    ]


def test_pools_get_the_default_limit_but_not_those_that_a_user_has_set(tmp_path):
    def begin_run(pools):
        (tmp_path / "dagster.yaml").write_text(f"concurrency: {{pools: {pools}}}")
        with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
            storage = instance.event_log_storage
            internals.set_pool_limits(instance, ["one", "two"])
            limits = {pool.name: pool.limit for pool in storage.get_pool_limits()}
            storage.set_concurrency_slots("two", 7)
        return limits

    assert begin_run("{default_limit: 1}") == {"one": 1, "two": 1}
    assert begin_run("{default_limit: 2}") == {"one": 2, "two": 7}
    assert begin_run("{}") == {"two": 7}
