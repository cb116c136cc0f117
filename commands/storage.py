"""A Dagster instance for several runs in one process, at once or in turn.

Dagster opens a connection for each event, and waits for the disk after each: half of the time of a
run in one process whose steps are short. Here a database is opened once, and SQLite waits for the
disk when it moves its log into the database: what a power cut may lose are the last events of a
run, never the database. Everything lies where it always does, for the UI to show.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
)
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine

_NO_OUTPUT = ConfigurableClassData(
    NoOpComputeLogManager.__module__, NoOpComputeLogManager.__name__, "{}\n"
)
_BUSY_S = 60
_OPEN_RUNS = 3


class _EventLog(SqliteEventLogStorage):
    """Keeps the database of all events of assets open, and those of the latest runs."""

    def __init__(self, base_dir: str) -> None:
        self._engines: dict[str, Engine] = {}
        self._empty = b""
        super().__init__(base_dir)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:
            engine = self._engines.pop(shard, None) or _engine(self.conn_string_for_shard(shard))
            self._engines[shard] = engine
            runs = [each for each in self._engines if each != INDEX_SHARD_NAME]
            for oldest in runs[:-_OPEN_RUNS]:
                self._engines.pop(oldest).dispose()
            if shard not in self._initialized_dbs:
                self._create(shard, engine)
                self._initialized_dbs.add(shard)
            with engine.begin() as connection:
                yield connection

    def _create(self, shard: str, engine: Engine) -> None:
        """Make the tables of a new run by copying those of the first: Dagster takes 0.2 s."""
        path = Path(self.path_for_shard(shard))
        if self._empty and not path.exists():
            path.write_bytes(self._empty)
            return
        is_new = not path.exists()
        self._initdb(engine)
        if is_new and shard != INDEX_SHARD_NAME:
            with engine.connect() as connection:
                database: Any = connection.connection.driver_connection
                self._empty = database.serialize()

    def dispose(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        super().dispose()


class _Runs(SqliteRunStorage):
    """Keeps the database of runs open."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engine = _engine(conn_string)
        super().__init__(conn_string, inst_data)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        self._engine.dispose()
        super().dispose()


class OpenStorage(DagsterSqliteStorage):
    """Dagster's own storage with databases that stay open."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage = _EventLog(self._event_log_storage._base_dir)
        self._run_storage = _Runs(self._run_storage._conn_string)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "OpenStorage":
        """The storage below the folder that Dagster is configured for."""
        return cls.from_local(inst_data=inst_data, **config_value)


def open_instance() -> DagsterInstance:
    """The instance at DAGSTER_HOME; another storage than SQLite is left as it is.

    What steps print is not kept: of several runs at once in one process, none has an output of its
    own to redirect.
    """
    ref = InstanceRef.from_dir(str(Path(os.environ["DAGSTER_HOME"]).resolve()))
    ref = ref._replace(compute_logs_data=_NO_OUTPUT)
    data = ref.storage_data
    if data is not None and data.class_name == DagsterSqliteStorage.__name__:
        ours = ConfigurableClassData(__name__, OpenStorage.__name__, data.config_yaml)
        ref = ref._replace(storage_data=ours)
    instance = DagsterInstance.from_ref(ref)
    handlers = instance.get_yaml_python_handlers()
    # Else each run sets them up again, for which Python closes all handlers: other runs' as well.
    vars(instance)["get_yaml_python_handlers"] = lambda: handlers
    return instance


def _engine(address: str) -> Engine:
    engine = create_engine(address, connect_args={"timeout": _BUSY_S})

    @event.listens_for(engine, "connect")
    def relax(connection: Any, _: object) -> None:
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine
