"""SQLite files in WAL mode, for several processes of one machine."""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import URL, Engine, MetaData, create_engine, event
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from resources.faults import UnusableStore

_WAL = "PRAGMA journal_mode=WAL"


def open_wal_engine(path: Path, patience_s: float) -> Engine:
    """An engine whose commits are on the disk, and which waits that long for a locked file.

    Its connections raise `UnusableStore` as `create_wal_file` does.
    """
    engine = _engine(path, patience_s)

    def durable(connection: Any, _record: object) -> None:
        _require_wal(path, *connection.execute(_WAL).fetchone())
        connection.execute("PRAGMA synchronous=FULL")

    event.listen(engine, "connect", durable)
    return engine


def _engine(path: Path, patience_s: float) -> Engine:
    return create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": patience_s},
        hide_parameters=True,
    )


def create_wal_file(path: Path, tables: MetaData, more: Iterable[str] = ()) -> None:
    """Make a file with empty tables and give it its name once complete; an existing one stays.

    `more` are statements for what the tables do not say themselves.

    SQLite lets nobody wait for the change to WAL, which several at once would each make. It comes
    last: what is in a log alone when the disk is full would be lost with it, and no error said.
    Raises `UnusableStore` where the file system cannot do it.
    """
    new = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        engine = _engine(new, 0)
        with engine.begin() as connection:
            # The driver would else commit each statement by itself.
            for statement in ("BEGIN", *_statements(tables), *more):
                connection.exec_driver_sql(statement)
        with engine.connect() as connection:
            _require_wal(path, connection.exec_driver_sql(_WAL).scalar_one())
        engine.dispose()
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)


@cache
def _statements(tables: MetaData) -> list[str]:
    """Compile the statements that make tables and their indexes; cached, as it takes long."""
    elements: list[ExecutableDDLElement] = [*map(CreateTable, tables.sorted_tables)]
    elements += [CreateIndex(index) for table in tables.sorted_tables for index in table.indexes]
    return [str(element.compile(dialect=dialect())) for element in elements]


def _require_wal(path: Path, mode: str) -> None:
    """Raise `UnusableStore` where SQLite silently answers with another mode than WAL."""
    if mode != "wal":
        raise UnusableStore(
            f"{path}: SQLite cannot keep a log (WAL) there, only the mode {mode!r}: the file "
            "system, as one of a network, shares no memory between the processes that write it. "
            "Nothing was changed. Keep it on a disk of this machine: change COUNTERFACTORY_HOME, "
            "or COUNTERFACTORY_CALLS where that is set."
        )
