"""SQLite files in WAL mode, for several processes of one machine."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import URL, Engine, MetaData, create_engine, event


def wal_engine(path: Path, patience_s: float) -> Engine:
    """An engine whose commits are on the disk, and which waits that long for a locked file."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": patience_s},
        hide_parameters=True,
    )
    event.listen(engine, "connect", _durable)
    return engine


def create_wal(path: Path, tables: MetaData) -> None:
    """Make a file with empty tables elsewhere and give it its name whole; one there stays.

    SQLite lets nobody wait for the change to WAL, which several at once would each make.
    """
    new = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        engine = wal_engine(new, 0)
        with engine.begin() as connection:
            tables.create_all(connection)
        engine.dispose()
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)


def _durable(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
