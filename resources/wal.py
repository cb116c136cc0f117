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


def wal_engine(path: Path, patience_s: float) -> Engine:
    """An engine whose commits are on the disk, and which waits that long for a locked file."""
    engine = _engine(path, patience_s)
    event.listen(engine, "connect", _durable)
    return engine


def _engine(path: Path, patience_s: float) -> Engine:
    return create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": patience_s},
        hide_parameters=True,
    )


def create_wal(path: Path, tables: MetaData, more: Iterable[str] = ()) -> None:
    """Make a file with empty tables elsewhere and give it its name whole; one there stays.

    `more` are statements for what the tables do not say themselves.

    SQLite lets nobody wait for the change to WAL, which several at once would each make. It comes
    last: what is in a log alone when the disk is full would be lost with it, and no error said.
    """
    new = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        engine = _engine(new, 0)
        with engine.begin() as connection:
            # The driver would else commit each statement by itself.
            for statement in ("BEGIN", *_statements(tables), *more):
                connection.exec_driver_sql(statement)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        engine.dispose()
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)


@cache
def _statements(tables: MetaData) -> list[str]:
    """What makes tables and their indexes: to compile it takes longer than to make them."""
    made: list[ExecutableDDLElement] = [*map(CreateTable, tables.sorted_tables)]
    made += [CreateIndex(index) for table in tables.sorted_tables for index in table.indexes]
    return [str(each.compile(dialect=dialect())) for each in made]


def _durable(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
