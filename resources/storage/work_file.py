"""The record of finished work in one file, which heals when it is damaged."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias, TypeVar
from uuid import uuid4

from dagster import get_dagster_logger
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from resources.database.sqlite import SqliteFile
from resources.faults import CorruptItem, StoreError, write_errors
from resources.storage.disk_reserve import DiskReserve
from resources.storage.work_schema import WorkSchema, WorkSql

Result = TypeVar("Result")
_File: TypeAlias = tuple[int, int]
"""Device and inode, by which a file is known whatever its name."""


class WorkFile(SqliteFile[WorkSql]):
    """A file of what can be computed again: a damaged one is set aside, and a new one begun."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, WorkSchema(), DiskReserve(None, 0))
        self._opened: _File | None = None

    def run(
        self,
        work: Callable[[Connection, WorkSql], Result],
        *,
        patient: bool = True,
        paid: bool = False,
    ) -> Result:
        """Do as `Database.run`; where the file turns out to be damaged, once more with a new one.

        Of several that find the damage at once, one heals it while the others wait. Nobody has
        the file in use meanwhile: SQLite finds its log by the name, and who still had the damaged
        file open would read, or remove, the log of the new one.
        """
        with self._lock(fcntl.LOCK_SH):
            try:
                return super().run(work, patient=patient, paid=paid)
            except CorruptItem:
                self.close()
        with self._lock(fcntl.LOCK_EX):
            try:
                return super().run(work, patient=patient, paid=paid)
            except CorruptItem as damage:
                self._set_aside(damage)
            return super().run(work, patient=patient, paid=paid)

    def _open_once(self) -> Engine:
        """The database that has the name now: another process may have set aside the one before."""
        if self._engine is not None and self._opened != _find_file(self._path):
            self.close()
        engine = super()._open_once()
        self._opened = _find_file(self._path)
        return engine

    def _fault(self, error: DBAPIError) -> StoreError | None:
        if "Could not decode" in str(error.orig):
            return self.build_damage_error(error.orig)
        return super()._fault(error)

    @contextmanager
    def _lock(self, how: int) -> Iterator[None]:
        """Lock the file for shared use (LOCK_SH) or for this process alone (LOCK_EX).

        The system lets go for a process that is killed.
        """
        with write_errors(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.with_name("work.lock").open("a") as lock:
                fcntl.flock(lock, how)
                yield

    def _set_aside(self, damage: CorruptItem) -> None:
        self.close()
        aside = self._path.with_name(f"work.sqlite.damaged-{uuid4().hex[:8]}")
        get_dagster_logger().warning(
            "%s Set aside as %s: its work is done again.", damage, aside.name
        )
        for suffix in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                self._path.with_name(f"{self._path.name}{suffix}").rename(f"{aside}{suffix}")

    def _remedy(self) -> str:
        return "Nothing has to be done."


def _find_file(path: Path) -> _File | None:
    """The identity of the file with that name; None if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
