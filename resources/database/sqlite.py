"""A database in one file: SQLite in WAL mode, for the processes of one machine."""

from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError, DBAPIError

from resources.database.database import Database
from resources.database.schema import Schema, Sql
from resources.database.sqlite_wal import create_wal_file, open_wal_engine
from resources.faults import StoreBusy, StoreError
from resources.storage.disk_reserve import DiskReserve

_LOCKED_S = 4
_LOG_INDEX = 32_768
"""Bytes that SQLite takes for the index of its log before it reads anything."""


class SqliteFile(Database[Sql]):
    """A file that is made, complete, when it is first used."""

    def __init__(self, path: Path, schema: Schema[Sql], reserve: DiskReserve) -> None:
        super().__init__(str(path), schema, reserve)
        self._path = path

    def _open(self) -> Engine:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not self._path.exists():
            create_wal_file(
                self._path, self.schema.tables, self.schema.build_index_statements("sqlite")
            )
        return open_wal_engine(self._path, _LOCKED_S)

    def _prepare(self, connection: Connection) -> None:
        # Driver and SQLAlchemy begin a transaction only later, when others may have prepared it.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        self.schema.create_missing(connection)

    def _fault(self, error: DBAPIError) -> StoreError | None:
        error_text = str(error.orig)
        if "locked" in error_text:
            return StoreBusy(
                f"Another program keeps {self.name} locked. End it, then run again: what was "
                "stored is kept."
            )
        # Its subclasses are other things: OperationalError for one, or our own mistakes.
        if type(error) is DatabaseError:
            return self.build_damage_error(error_text)
        return self._diagnose_disk_error(error_text) if "disk I/O error" in error_text else None

    def _diagnose_disk_error(self, error_text: str) -> StoreError:
        """The fault behind an error of the disk: a full one has no room for the log's index."""
        space = DiskReserve(self._path.parent, _LOG_INDEX)
        try:
            space.hold()
        except StoreError as fault:
            return fault
        finally:
            space.release()
        return self.build_damage_error(error_text)

    def _remedy(self) -> str:
        return (
            f"Restore a copy, or save what can be read with `sqlite3 {self._path} .recover | "
            "sqlite3 recovered.sqlite` and put that in its place; to start with nothing, move the "
            "file away yourself."
        )
