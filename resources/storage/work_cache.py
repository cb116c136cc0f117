"""A cache of finished drawing and measuring."""

import fcntl
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

from dagster import ConfigurableResource, get_dagster_logger
from pydantic import PrivateAttr
from sqlalchemy import Column, Engine, MetaData, String, Table, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.schema import CreateTable

from resources.faults import StoreBusy, write_errors
from resources.storage.chunks import split_into_chunks
from resources.storage.sqlite_wal import create_wal_file, open_wal_engine

_WORK = Table("work", MetaData(), Column("key", String, primary_key=True), Column("result", String))
_PATIENCE_S = 60

_DAMAGE = (DatabaseError, json.JSONDecodeError)

Answer = TypeVar("Answer")
_File: TypeAlias = tuple[int, int]
"""Device and inode, by which a file is known whatever its name."""


def build_work_key(*parts: object) -> str:
    """The key of a piece of work: sha256 of everything that its result depends on."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


class WorkCache(ConfigurableResource[None]):
    """Results of deterministic work by key, in `<root>/work.sqlite`; safe across processes.

    All of it can be computed again, so that a damaged file heals: it is set aside, which is logged,
    and the work is done anew. The file is in WAL mode, for processes of one machine. Raises
    `UnwritableStore`, `DiskFull`, or `StoreBusy` where another run writes for a minute.
    """

    root: str
    _engine: Engine | None = PrivateAttr(default=None)
    _opened: _File | None = PrivateAttr(default=None)

    def find_results(self, keys: Iterable[str]) -> dict[str, Any]:
        """Find the results of finished work by key."""
        key_list = list(keys)
        if not key_list:
            return {}

        def look_up(engine: Engine) -> dict[str, Any]:
            results: dict[str, Any] = {}
            with engine.connect() as connection:
                for chunk in split_into_chunks(key_list):
                    rows = connection.execute(select(_WORK).where(_WORK.c.key.in_(chunk)))
                    results.update((row.key, json.loads(row.result)) for row in rows)
            return results

        return self._heal(look_up)

    def record(self, results: Mapping[str, Any]) -> None:
        """Keep results; a key that is there already takes the new result."""
        if not results:
            return
        rows = [{"key": key, "result": json.dumps(result)} for key, result in results.items()]
        entry = insert(_WORK)
        statement = entry.on_conflict_do_update(["key"], set_={"result": entry.excluded.result})

        def write(engine: Engine) -> None:
            with engine.begin() as connection:
                connection.execute(statement, rows)

        self._heal(write)

    @property
    def _path(self) -> Path:
        return Path(self.root) / "work.sqlite"

    def _heal(self, use: Callable[[Engine], Answer]) -> Answer:
        """Use the database; if it turns out to be damaged, once more with a new one.

        Of several that find the damage at once, one heals it while the others wait. Nobody has
        the file in use meanwhile: SQLite finds its log by the name, and who still had the damaged
        file open would read, or remove, the log of the new one.
        """
        with self._lock(fcntl.LOCK_SH):
            try:
                return self._guard(use)
            except OperationalError:
                raise
            except _DAMAGE:
                self._close()
        with self._lock(fcntl.LOCK_EX):
            try:
                return self._guard(use)
            except OperationalError:
                raise
            except _DAMAGE as damage:
                self._set_aside(damage.orig if isinstance(damage, DatabaseError) else damage)
            return self._guard(use)

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

    def _guard(self, use: Callable[[Engine], Answer]) -> Answer:
        try:
            return use(self._open_current())
        except OperationalError as error:
            if "locked" not in str(error.orig):
                raise
            raise StoreBusy(
                f"Another run has been writing to {self._path} for {_PATIENCE_S} s. Wait until it "
                "ends, then run again: what was finished is kept."
            ) from error

    def _open_current(self) -> Engine:
        """The database that has the name now: another process may have set aside the one before."""
        if self._engine is not None and self._opened != _file(self._path):
            self._close()
        if self._engine is None:
            self._engine = self._open()
            self._opened = _file(self._path)
        return self._engine

    def _open(self) -> Engine:
        if not self._path.exists():
            create_wal_file(self._path, _WORK.metadata)
        engine = open_wal_engine(self._path, _PATIENCE_S)
        with engine.begin() as connection:
            connection.execute(CreateTable(_WORK, if_not_exists=True))
        return engine

    def _set_aside(self, why: object) -> None:
        self._close()
        aside = self._path.with_name(f"work.sqlite.damaged-{uuid4().hex[:8]}")
        get_dagster_logger().warning(
            "%s is damaged (%s): set aside as %s, its work is done again",
            self._path,
            why,
            aside.name,
        )
        for suffix in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                self._path.with_name(f"{self._path.name}{suffix}").rename(f"{aside}{suffix}")

    def _close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None


def _file(path: Path) -> _File | None:
    """The identity of the file with that name; None if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
