"""The store in one file: SQLite in WAL mode, for the processes of one machine."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, DBAPIError

from resources.calls.database import Database
from resources.calls.statements import TABLES
from resources.faults import Busy, StoreError

_LOCKED_S = 4


class SqliteFile(Database):
    """A file that is never set aside or emptied, however damaged: it holds what was paid for."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self._path = path

    def _open(self) -> Engine:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not self._path.exists():
            self._create()
        if not self._path.stat().st_size:
            raise self.damaged("it is empty")
        return _engine(self._path)

    def _create(self) -> None:
        """Make one elsewhere and give it its name whole.

        SQLite lets nobody wait for the change to WAL, which several at once would each make.
        """
        new = self._path.with_name(f".{self._path.name}.{uuid4().hex}")
        try:
            engine = _engine(new)
            with engine.begin() as connection:
                TABLES.create_all(connection)
            engine.dispose()
            with suppress(FileExistsError):
                os.link(new, self._path)
        finally:
            new.unlink(missing_ok=True)

    def _prepare(self, connection: Connection) -> None:
        raise self.damaged("it has no table of claims")

    def _fault(self, error: DBAPIError) -> StoreError | None:
        said = str(error.orig)
        if "locked" in said:
            return Busy(
                f"Another program keeps {self.name} locked. End it, then run again: what was "
                "stored is kept."
            )
        # Its subclasses are other things: OperationalError for one, or our own mistakes.
        if type(error) is DatabaseError or "disk I/O error" in said:
            return self.damaged(said)
        return None

    def _remedy(self) -> str:
        return (
            f"Restore a copy, or save what can be read with `sqlite3 {self._path} .recover | "
            "sqlite3 recovered.sqlite` and put that in its place; to start with nothing, move the "
            "file away yourself."
        )


def _engine(path: Path) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": _LOCKED_S},
        hide_parameters=True,
    )
    event.listen(engine, "connect", _durable)
    return engine


def _durable(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
