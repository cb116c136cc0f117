"""A database on a PostgreSQL server, for the processes of many machines."""

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from resources.database.database import Database
from resources.database.schema import Schema, Sql
from resources.faults import DiskFull, StoreError, UnreachableStore, UnusableStore, UnwritableStore
from resources.storage.disk_reserve import DiskReserve

_MAKING_TABLES = 0x43414C4C
"""Our advisory lock: PostgreSQL lets two that create the same table at once fail."""

_IDLE_MS = 30_000
"""Idle time within a transaction, after which PostgreSQL ends it and frees its locks."""

# A server or a network that vanishes is noticed within half a minute.
_CONNECT: dict[str, Any] = {
    "connect_timeout": 3,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "counterfactory",
}


class PostgresServer(Database[Sql]):
    """A server that may go away and come back; what is to be written waits for it."""

    def __init__(self, url: URL, schema: Schema[Sql]) -> None:
        place = f"{url.host or 'localhost'}:{url.port or 5432}"
        super().__init__(f"PostgreSQL at {place}/{url.database}", schema, DiskReserve(None, 0))
        self._url = url.set(drivername="postgresql+psycopg2")

    def _open(self) -> Engine:
        try:
            engine = create_engine(
                self._url,
                connect_args={k: v for k, v in _CONNECT.items() if k not in self._url.query},
                isolation_level="READ COMMITTED",
                hide_parameters=True,
            )
        except ModuleNotFoundError as error:
            raise UnusableStore(
                f"{self.name} needs psycopg2. Install it: pip install 'counterfactory[postgres]'"
            ) from error
        event.listen(engine, "connect", _limit)
        return engine

    def _prepare(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MAKING_TABLES})
        self.schema.create_missing(connection)

    def _fault(self, error: DBAPIError) -> StoreError | None:
        code, error_text = getattr(error.orig, "pgcode", None), " ".join(str(error.orig).split())
        if code == "53100":
            return DiskFull(
                f"The disk of {self.name} has no space left. What was stored is kept: free some "
                "space there and run again; only what is missing is done."
            )
        if code in ("25006", "42501"):
            return UnwritableStore(
                f"{self.name} cannot be written ({error_text}). Give the user of the call store's "
                "URL the right to create tables and to write, or point the URL at another database."
            )
        if code in ("XX001", "XX002"):
            return self.build_damage_error(error_text)
        if error.connection_invalidated or isinstance(error, OperationalError | InterfaceError):
            return UnreachableStore(
                f"{self.name} cannot be reached ({error_text}). Start it, or correct the URL of "
                "the call store: what was stored is kept, only what is missing is done."
            )
        return None

    def _remedy(self) -> str:
        return "Restore the database from a backup."


def _limit(connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = %s", [_IDLE_MS])
    connection.commit()
