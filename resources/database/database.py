"""A database that may be busy or away for a while, of either kind."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from dagster import get_dagster_logger
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from resources.database.schema import Schema, Sql
from resources.faults import (
    CorruptItem,
    DiskFull,
    StoreBusy,
    StoreError,
    UnreachableStore,
    UnwritableStore,
    write_errors,
)
from resources.storage.disk_reserve import DiskReserve

_PATIENCE_S = 300.0
_RETRY_S = 1.0
_SAY_EVERY_S = 5.0

Result = TypeVar("Result")


class Database(ABC, Generic[Sql]):
    """Runs transactions; waits for a database that is locked or away, and says so in the log."""

    def __init__(self, name: str, schema: Schema[Sql], reserve: DiskReserve) -> None:
        self.name = name
        """Its name in messages, without user, password or options."""
        self.schema = schema
        self.reserve = reserve
        """Disk space for answers that are on their way."""
        self._engine: Engine | None = None
        self._opening = threading.Lock()
        self._was_reached = False
        self._away_since: float | None = None
        self._last_message = 0.0

    def run(
        self,
        work: Callable[[Connection, Sql], Result],
        *,
        patient: bool = True,
        paid: bool = False,
    ) -> Result:
        """Return what `work` returns, once its transaction is committed; may call it repeatedly.

        Raises `StoreBusy` or `UnreachableStore` after minutes of waiting where it is `patient`,
        `UnreachableStore` at once for a server that was never reached, and `CorruptItem` at once.
        `DiskFull` and `UnwritableStore` are raised at once as well, unless what is to be written is
        `paid`: that waits for them too.
        """
        while True:
            try:
                done = self._attempt(work)
            except (UnreachableStore, StoreBusy, DiskFull, UnwritableStore) as fault:
                if not patient or (isinstance(fault, DiskFull | UnwritableStore) and not paid):
                    raise
                self._wait(fault)
            else:
                self._away_since = None
                return done

    def close(self) -> None:
        """Close all connections."""
        with self._opening:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None
        self.reserve.release()

    @abstractmethod
    def _open(self) -> Engine:
        """An engine."""

    @abstractmethod
    def _fault(self, error: DBAPIError) -> StoreError | None:
        """The fault that an error stands for; None for a mistake of this program."""

    @abstractmethod
    def _prepare(self, connection: Connection) -> None:
        """Make what is missing, alone."""

    def _attempt(self, work: Callable[[Connection, Sql], Result]) -> Result:
        try:
            with write_errors(self.name):
                engine = self._open_once()
                with engine.begin() as connection:
                    return work(connection, self.schema.build_sql(engine.dialect.name))
        except DBAPIError as error:
            fault = self._fault(error)
            if fault is None:
                raise
            raise fault from error
        except ValueError as error:
            raise self.build_damage_error(error) from error

    def build_damage_error(self, why: object) -> CorruptItem:
        """Build the error for damaged content."""
        return CorruptItem(
            f"{self.name} is damaged ({why}). {self.schema.damage_note} {self._remedy()}"
        )

    @abstractmethod
    def _remedy(self) -> str:
        """The remedy for damage."""

    def _open_once(self) -> Engine:
        with self._opening:
            if self._engine is None:
                engine = self._open()
                try:
                    with engine.begin() as connection:
                        if not self.schema.is_complete(connection):
                            self._prepare(connection)
                except BaseException:
                    engine.dispose()
                    raise
                self._engine, self._was_reached = engine, True
            return self._engine

    def _wait(self, fault: UnreachableStore | StoreBusy | DiskFull | UnwritableStore) -> None:
        current_time = time.monotonic()
        if self._away_since is None:
            self._away_since = current_time
        away = current_time - self._away_since
        if isinstance(fault, UnreachableStore) and not self._was_reached:
            raise fault
        if away >= _PATIENCE_S:
            raise type(fault)(f"{fault} Waited for {away:.0f} s.") from fault
        if current_time - self._last_message >= _SAY_EVERY_S:
            self._last_message = current_time
            get_dagster_logger().warning(
                "%s Waiting for %.0f s more; what is finished meanwhile is held.",
                fault,
                _PATIENCE_S - away,
            )
        time.sleep(_RETRY_S)
