"""The call store in one file, which is never set aside or emptied: it holds what was paid for."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event

from resources.calls.answer_sql import AnswerSql
from resources.calls.schema import CallSchema
from resources.calls.sql_tables import CALLS, CLAIMS
from resources.database.schema import list_schema_names
from resources.database.sqlite import SqliteFile
from resources.faults import MissingItem
from resources.storage.disk_reserve import DiskReserve

_RESERVE = 16_000_000
"""Bytes: a hundred long answers, with the pages that are written anew for each."""


class AnswerFile(SqliteFile[AnswerSql]):
    """A file of answers, with disk space reserved for those on their way."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, CallSchema(), DiskReserve(path.parent, _RESERVE))

    def _open(self) -> Engine:
        if not self._path.exists() and self._path.is_symlink():
            raise MissingItem(
                f"{self.name} is a link to {self._path.readlink()}, which is not there. "
                "Restore or mount it: it holds what was paid for, and nothing is sent before."
            )
        engine = super()._open()
        if not self._path.stat().st_size:
            raise self.build_damage_error("it is empty")
        event.listen(engine, "connect", _read_anything)
        return engine

    def _prepare(self, connection: Connection) -> None:
        if not {CALLS.name, CLAIMS.name} <= list_schema_names(connection):
            raise self.build_damage_error("it has no table of calls or of claims")
        super()._prepare(connection)


def _read_anything(connection: Any, _record: object) -> None:
    """Read text that is damaged so that it is none any more: its checksum tells, and of which row.

    SQLite's driver would end the whole look-up without a word of where.
    """
    connection.text_factory = lambda text: text.decode(errors="surrogateescape")
