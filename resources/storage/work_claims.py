"""Claims to do pieces of work, so that machines that share a record do none of them twice."""

import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import uuid4

from dagster import get_dagster_logger
from sqlalchemy import Connection

from resources.database.claims import LEASE_S
from resources.database.database import Database
from resources.faults import StoreError
from resources.storage.work_schema import WorkSql


class ClaimedWork(NamedTuple):
    """Keys to work on, and the results that another process has recorded meanwhile."""

    keys: set[str]
    results: dict[str, Any]


class WorkClaims:
    """The claims of one loop over work, renewed until its results are recorded.

        with closing(WorkClaims(database)) as claims:
            keys, results = claims.take(missing)
            claims.record({key: work(key) for key in keys})

    Work costs nothing but time: where no claim can be had, it is done without.
    """

    def __init__(self, database: Database[WorkSql]) -> None:
        self._database = database
        self._owner = uuid4().hex
        self._keys = set[str]()
        self._writing = threading.Lock()
        """Held while claims are written: a renewal would bring back those that are given up."""
        self._closing = threading.Event()
        self._renewing = threading.Thread(target=self._renew_until_closed, daemon=True)

    def take(self, keys: Collection[str]) -> ClaimedWork:
        """Claim keys, and find results: those that were recorded since they were last looked for.

        A key that another process has claimed is in neither.
        """

        def claim(connection: Connection, sql: WorkSql) -> ClaimedWork:
            # A result that is committed between the two is seen.
            own_keys = sql.claims.claim(connection, keys, self._owner, LEASE_S)
            return ClaimedWork(own_keys, sql.find_results(connection, keys))

        with self._writing:
            try:
                claimed = self._database.run(claim)
            except StoreError as error:
                get_dagster_logger().warning("Work is done without claims: %s", error)
                return ClaimedWork(set(keys), {})
            self._keys |= claimed.keys
        if self._renewing.ident is None:
            self._renewing.start()
        return claimed

    def record(self, results: Mapping[str, Any]) -> None:
        """Keep results and give up their claims, in one commit."""

        def write(connection: Connection, sql: WorkSql) -> None:
            # Rows of claims, also those that are given up, are locked first and in order of key.
            sql.claims.claim(connection, results.keys(), self._owner, LEASE_S)
            sql.record(connection, results)
            sql.claims.release(connection, results.keys(), self._owner)

        if results:
            with self._writing:
                self._database.run(write)
                self._keys -= results.keys()

    def close(self) -> None:
        """Give up all claims."""
        self._closing.set()
        if self._renewing.ident is not None:
            self._renewing.join()
        if self._keys:
            self._write_now(self._release)

    def _renew_until_closed(self) -> None:
        while not self._closing.wait(LEASE_S / 3):
            with self._writing:
                if self._keys:
                    self._write_now(self._renew)

    def _renew(self, connection: Connection, sql: WorkSql) -> None:
        sql.claims.claim(connection, self._keys, self._owner, LEASE_S)

    def _release(self, connection: Connection, sql: WorkSql) -> None:
        self._renew(connection, sql)
        sql.claims.release(connection, self._keys, self._owner)

    def _write_now(self, work: Callable[[Connection, WorkSql], None]) -> None:
        """Write claims if that is possible now; those that stay end with their leases."""
        with suppress(StoreError):
            self._database.run(work, patient=False)
