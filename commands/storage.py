"""A Dagster instance for several runs in one process, at once or in turn.

Dagster opens and closes a connection for each event. That takes a PostgreSQL server longer than to
store the event, and SQLite waits for the disk whenever the last connection to a database closes.
Here connections stay open, and SQLite waits for the disk when it moves its log into the database: a
power cut may lose the last events of a run, never the database. All events are where the UI looks
for them.
"""

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster import DagsterInstance
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import QueuePool

from resources.execution.dagster_internals import (
    look_for_tables_once,
    read_log_handlers_once,
    read_migrations_once,
    share_database_engines,
)

_NO_OUTPUT = {
    "module": "dagster.core.storage.noop_compute_log_manager",
    "class": "NoOpComputeLogManager",
}
_BUSY_S = 60


class _Connection(sqlite3.Connection):
    """A connection that is not closed but put back among the `idle` ones."""

    idle: "list[_Connection]"

    def close(self) -> None:
        self.rollback()
        self.idle.append(self)


@contextmanager
def open_instance() -> Iterator[DagsterInstance]:
    """Open the instance at DAGSTER_HOME.

    What steps print is not kept: of several runs at once in one process, none has an output of its
    own to redirect.
    """
    share_database_engines()
    read_migrations_once()
    folder = Path(os.environ["DAGSTER_HOME"]).resolve()
    overrides: Any = {"compute_logs": _NO_OUTPUT}
    with (
        _keep_connections(folder),
        DagsterInstance.local_temp(str(folder), overrides=overrides) as instance,
    ):
        read_log_handlers_once(instance)
        look_for_tables_once(instance)
        _keep_server_connections(instance)
        yield instance


@contextmanager
def _keep_connections(folder: Path) -> Iterator[None]:
    """Keep connections to SQLite databases below a folder open; to all others they are as usual."""
    idle = defaultdict[str, list[_Connection]](list)

    def connect(dialect: Any, _: object, arguments: Any, options: Any) -> Any:
        if dialect.name != "sqlite" or folder not in Path(arguments[0]).parents:
            return None
        connections = idle[arguments[0]]
        if connections:
            return connections.pop()
        # Threads use a connection one after the other.
        own_options = {"timeout": _BUSY_S, "factory": _Connection, "check_same_thread": False}
        connection = sqlite3.connect(*arguments, **{**options, **own_options})
        connection.idle = connections
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    event.listen(Engine, "do_connect", connect)
    try:
        yield
    finally:
        event.remove(Engine, "do_connect", connect)
        for connections in idle.values():
            for connection in connections:
                sqlite3.Connection.close(connection)


def _keep_server_connections(instance: DagsterInstance) -> None:
    """Keep connections to PostgreSQL open, as in a webserver.

    One that the server has closed meanwhile, as it was restarted, is replaced at its next use.
    """
    instance.optimize_for_webserver(statement_timeout=0, pool_recycle=3600, max_overflow=20)
    for storage in (instance.run_storage, instance.event_log_storage, instance.schedule_storage):
        engine = vars(storage).get("_engine")
        if engine is not None and isinstance(engine.pool, QueuePool):
            event.listen(engine, "checkout", _require_open)


def _require_open(connection: Any, *_: object) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception as error:
        raise DisconnectionError from error
