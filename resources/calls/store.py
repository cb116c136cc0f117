"""Every answer that was ever paid for, by the key of its request."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from dagster import ConfigurableResource, InitResourceContext
from pydantic import Field, PrivateAttr
from sqlalchemy import Connection

from resources.calls.address import database_of
from resources.calls.call import Call, call_of
from resources.calls.database import Database
from resources.calls.statements import Statements
from resources.calls.writer import Claim, Standing, Writer

_AT_ONCE = 1000
_FIRST_LOOK_S, _LOOK_EVERY_S = 0.05, 1.0
_STARTING = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Running:
    """What this process has open."""

    process: int
    database: Database
    writer: Writer


@dataclass(slots=True)
class _Flight:
    """A request that is being answered, and how many wait for it."""

    task: "asyncio.Task[Call]"
    waiting: int = 0


class CallStore(ConfigurableResource[None]):
    """Answers that were paid for, in a SQLite file or on a PostgreSQL server; none is paid twice.

    `url` is `sqlite:////folder/calls.sqlite`, for the processes of one machine, or
    `postgresql://user:password@host/database`. It opens when it is first used, in each process by
    itself, and works with any number of threads and event loops. Everything that was handed out is
    committed; `close` writes what is still under way.

    All methods raise a `StoreError` that names the place and the remedy: `Unusable` for a URL that
    cannot be used, `Corrupt` for damage (nothing is ever set aside or emptied), `Full`,
    `Unwritable`, and, after minutes of waiting which the log tells of, `Busy` and `Unreachable`.

        with closing(CallStore(url="sqlite:///calls.sqlite")) as store:
            call = asyncio.run(store.once(key, ask))
    """

    url: str = Field(repr=False)
    _running: _Running | None = PrivateAttr(default=None)
    _flights: dict[tuple[asyncio.AbstractEventLoop, str], _Flight] = PrivateAttr(
        default_factory=dict
    )

    def known(self, keys: Iterable[str]) -> dict[str, Call]:
        """Those of `keys` that have an answer, with it."""
        wanted = list(keys)

        def look_up(connection: Connection, sql: Statements) -> dict[str, Call]:
            found: dict[str, Call] = {}
            for start in range(0, len(wanted), _AT_ONCE):
                rows = sql.stored(connection, wanted[start : start + _AT_ONCE])
                found.update((key, call_of(row)) for key, row in rows.items())
            return found

        return self._started().database.run(look_up)

    async def once(self, key: str, ask: Callable[[], Awaitable[Call]]) -> Call:
        """The stored call of `key` or, if there is none, the one that `ask` returns, stored.

        However many ask for a key at once, in whichever process, `ask` is awaited once; what it
        raises is raised to all who share it in this event loop, and nothing is stored then. It is
        cancelled when all of them are. A process that is killed loses its claim within a minute.
        """
        place = (asyncio.get_running_loop(), key)
        flight = self._flights.get(place)
        if flight is None:
            flight = _Flight(asyncio.create_task(self._fly(key, ask)))
            self._flights[place] = flight
        flight.waiting += 1
        try:
            await asyncio.wait([flight.task])
            return flight.task.result()
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                del self._flights[place]
                if not flight.task.done():
                    flight.task.cancel()
                    await asyncio.wait([flight.task])

    def close(self) -> None:
        """Write what is under way, give up claims and close connections."""
        running, self._running = self._running, None
        if running is not None and running.process == os.getpid():
            running.writer.close()
            running.database.close()

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        """Close it with the run that used it."""
        self.close()

    async def _fly(self, key: str, ask: Callable[[], Awaitable[Call]]) -> Call:
        writer, claim, wait = self._started().writer, Claim(key), _FIRST_LOOK_S
        try:
            while (found := await writer.claim(claim)) is Standing.PENDING:
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LOOK_EVERY_S)
            if isinstance(found, Call):
                return found
            return await writer.keep(claim, await ask())
        except BaseException:
            writer.release(claim)
            raise

    def _started(self) -> _Running:
        with _STARTING:
            if self._running is None or self._running.process != os.getpid():
                database = database_of(self.url)
                self._running = _Running(os.getpid(), database, Writer(database))
            return self._running
