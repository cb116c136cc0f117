"""The store in one file: SQLite in WAL mode, for the processes of one machine."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DatabaseError, DBAPIError

from resources.calls.database import Database
from resources.calls.schema import build_index_statements, create_missing, list_schema_names
from resources.calls.sql_tables import CALLS, CLAIMS, TABLES
from resources.faults import MissingItem, StoreBusy, StoreError
from resources.storage.disk_reserve import DiskReserve
from resources.storage.sqlite_wal import create_wal_file, open_wal_engine

_LOCKED_S = 4
_RESERVE = 16_000_000
"""Bytes: a hundred long answers, with the pages that are written anew for each."""
_LOG_INDEX = 32_768
"""Bytes that SQLite takes for the index of its log before it reads anything."""


class SqliteFile(Database):
    """A file that is never set aside or emptied, however damaged: it holds what was paid for."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), DiskReserve(path.parent, _RESERVE))
        self._path = path

    def _open(self) -> Engine:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not self._path.exists():
            if self._path.is_symlink():
                raise MissingItem(
                    f"{self.name} is a link to {self._path.readlink()}, which is not there. "
                    "Restore or mount it: it holds what was paid for, and nothing is sent before."
                )
            create_wal_file(self._path, TABLES, build_index_statements("sqlite"))
        if not self._path.stat().st_size:
            raise self.build_damage_error("it is empty")
        engine = open_wal_engine(self._path, _LOCKED_S)
        event.listen(engine, "connect", _read_anything)
        return engine

    def _prepare(self, connection: Connection) -> None:
        # Driver and SQLAlchemy begin a transaction only later, when others may have prepared it.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        if not {CALLS.name, CLAIMS.name} <= list_schema_names(connection):
            raise self.build_damage_error("it has no table of calls or of claims")
        create_missing(connection)

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


def _read_anything(connection: Any, _record: object) -> None:
    """Read text that is damaged so that it is none any more: its checksum tells, and of which row.

    SQLite's driver would end the whole look-up without a word of where.
    """
    connection.text_factory = lambda text: text.decode(errors="surrogateescape")
