"""The record of finished drawing and measuring."""

import json
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dagster import ConfigurableResource, InitResourceContext
from pydantic import Field, PrivateAttr
from sqlalchemy import Connection

from resources.calls.database_url import is_postgres, parse_database_url
from resources.database.database import Database
from resources.database.postgres import PostgresServer
from resources.faults import UnusableStore
from resources.storage.atomic_writes import is_remote
from resources.storage.chunks import split_into_chunks
from resources.storage.files import open_address
from resources.storage.work_claims import WorkClaims
from resources.storage.work_file import WorkFile
from resources.storage.work_schema import WorkSchema, WorkSql

_STARTING = threading.Lock()


def build_work_key(*parts: object) -> str:
    """The key of a piece of work: sha256 of everything that its result depends on."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _OpenRecord:
    """The database that a process has open."""

    process: int
    database: Database[WorkSql]


class WorkCache(ConfigurableResource[None]):
    """Results of deterministic work by key; safe across processes.

    Where `calls_url`, the URL of the call store, is that of a PostgreSQL server, they are in its
    database, for all machines that share it. Otherwise they are in `<root>/work.sqlite`, for the
    processes of one machine; a damaged file heals, since all of it can be computed again: it is set
    aside, which is logged, and the work is done anew.

    All methods raise `UnwritableStore`, `DiskFull`, and, after minutes of waiting which the log
    tells of, `StoreBusy` or `UnreachableStore`; `UnusableStore` for a URL that cannot be used.
    """

    root: str
    calls_url: str = Field(default="", repr=False)
    _record: _OpenRecord | None = PrivateAttr(default=None)

    def find_results(self, keys: Iterable[str]) -> dict[str, Any]:
        """Find the results of finished work by key."""
        chunks = list(split_into_chunks(keys))
        if not chunks:
            return {}

        def look_up(connection: Connection, sql: WorkSql) -> dict[str, Any]:
            results: dict[str, Any] = {}
            for chunk in chunks:
                results |= sql.find_results(connection, chunk)
            return results

        return self._database.run(look_up)

    def record(self, results: Mapping[str, Any]) -> None:
        """Keep results; a key that is there already takes the new result."""
        if results:
            self._database.run(lambda connection, sql: sql.record(connection, results))

    def open_claims(self) -> WorkClaims:
        """Claims for one loop over work, to be closed after it."""
        return WorkClaims(self._database)

    def count_stale_claims(self, age_s: float) -> int:
        """Count the claims of processes that ended more than `age_s` seconds ago."""
        return self._database.run(lambda connection, sql: sql.claims.count_stale(connection, age_s))

    def delete_stale_claims(self, age_s: float) -> None:
        """Remove the claims of processes that ended more than `age_s` seconds ago."""
        self._database.run(lambda connection, sql: sql.claims.delete_stale(connection, age_s))

    def close(self) -> None:
        """Close all connections."""
        record, self._record = self._record, None
        if record is not None and record.process == os.getpid():
            record.database.close()

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        """Close it with the run that used it."""
        self.close()

    @property
    def _database(self) -> Database[WorkSql]:
        with _STARTING:
            if self._record is None or self._record.process != os.getpid():
                self._record = _OpenRecord(os.getpid(), self._build_database())
            return self._record.database

    def _build_database(self) -> Database[WorkSql]:
        url = parse_database_url(self.calls_url) if self.calls_url else None
        if url is not None and is_postgres(url):
            return PostgresServer(url, WorkSchema())
        if is_remote(open_address(self.root)):
            raise UnusableStore(
                f"{self.root} is an address, and an object store holds no database. Keep the call "
                "store on a PostgreSQL server, which keeps finished work as well."
            )
        return WorkFile(Path(self.root, "work.sqlite"))
