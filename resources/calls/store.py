"""The store of paid answers, by the key of their request."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import TypeVar

from dagster import ConfigurableResource, InitResourceContext
from pydantic import Field, PrivateAttr
from sqlalchemy import Connection

from resources.calls.answer_sql import AnswerSql
from resources.calls.batch_store import BatchStore
from resources.calls.call import Call, StoredAnswer, to_call_row
from resources.calls.damaged_answers import DamagedAnswers
from resources.calls.database_url import build_database
from resources.calls.spending import Booking, Purchase, SpendingRow, TypicalUsage
from resources.calls.spending_sql import SpendingChanges
from resources.calls.transactions import Claim, ClaimState
from resources.calls.write_thread import StoreWriter
from resources.database.database import Database
from resources.storage.chunks import CHUNK_SIZE, split_into_chunks

_TYPICAL_OF = 1000
_STARTING = threading.Lock()

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Running:
    """Database and writer that this process has open."""

    process: int
    database: Database[AnswerSql]
    writer: StoreWriter


@dataclass(slots=True)
class _Flight:
    """A request that is being answered, and how many wait for it."""

    task: "asyncio.Task[Call | None]"
    waiting: int = 0


class CallStore(ConfigurableResource[None]):
    """Answers that were paid for, in a SQLite file or on a PostgreSQL server; none is paid twice.

    `url` is `sqlite:////folder/calls.sqlite`, for the processes of one machine, or
    `postgresql://user:password@host/database`. It opens when it is first used, in each process by
    itself, and works with any number of threads and event loops. Everything that was handed out is
    committed; `close` writes what is still under way.

    All methods raise a `StoreError` that names the place and the remedy: `UnusableStore` for a URL
    that cannot be used, `CorruptItem` for damage (nothing is ever set aside or emptied),
    `DamagedAnswers` for single rows that are not what was written, `DiskFull`, `UnwritableStore`,
    and, after minutes of waiting which the log tells of, `StoreBusy` and `UnreachableStore`.

        with closing(CallStore(url="sqlite:///calls.sqlite")) as store:
            call = asyncio.run(store.get_or_request(key, ask))
    """

    url: str = Field(repr=False)
    _running: _Running | None = PrivateAttr(default=None)
    _flights: dict[tuple[asyncio.AbstractEventLoop, str], _Flight] = PrivateAttr(
        default_factory=dict
    )

    @property
    def batches(self) -> BatchStore:
        """The batches, in progress and over."""
        return BatchStore(self._start().database)

    def find_calls(self, keys: Iterable[str]) -> dict[str, Call]:
        """Find the stored calls of keys."""
        return {call.key: call for call in self.iterate_calls(keys)}

    def find_answers(self, keys: Iterable[str]) -> dict[str, StoredAnswer]:
        """Find the stored answers of keys, without their requests, which are the larger part."""
        checked_chunks = list(self._chunks(keys, AnswerSql.find_answers))
        self._require_sound(
            {key: model for checked in checked_chunks for key, model in checked.damaged.items()}
        )
        return {key: answer for checked in checked_chunks for key, answer in checked.sound.items()}

    def holds(self, keys: Iterable[str]) -> set[str]:
        """Find the keys that have an answer."""
        return {key for chunk in self._chunks(keys, AnswerSql.find_stored_keys) for key in chunk}

    def find_durations(self, keys: Iterable[str]) -> dict[str, float]:
        """The duration of each stored answer among `keys`; a batch's answers have none."""
        chunks = self._chunks(keys, AnswerSql.find_durations)
        return {key: seconds for chunk in chunks for key, seconds in chunk.items()}

    def iterate_calls(self, keys: Iterable[str]) -> Iterator[Call]:
        """Yield the stored calls of keys, in order of key, read as they are needed."""

        def look_up(sql: AnswerSql, connection: Connection, chunk_keys: list[str]) -> list[Call]:
            checked = sql.find_calls(connection, chunk_keys)
            self._require_sound(checked.damaged)
            return [checked.sound[key] for key in chunk_keys if key in checked.sound]

        for chunk in self._chunks(sorted(set(keys)), look_up):
            yield from chunk

    def iterate_keys(self) -> Iterator[str]:
        """Yield the keys of all stored calls, in order, read as they are needed."""
        last = [""]

        def look_up(connection: Connection, sql: AnswerSql) -> list[str]:
            return sql.list_keys(connection, last[-1], CHUNK_SIZE)

        while last := self._run(look_up):
            yield from last

    def keep(
        self, calls: Sequence[Call], costs: Mapping[str, int | None] = MappingProxyType({})
    ) -> set[str]:
        """Store new calls and settle, all in one commit; returns the keys of the new ones.

        `costs` are by the id of a booking, as for `settle`. A thousand at a time take little
        memory and do not block others for long.
        """
        rows = [to_call_row(call) for call in calls]

        def write(connection: Connection, sql: AnswerSql) -> set[str]:
            new = sql.store_calls(connection, rows) if rows else set()
            sql.spending.change(connection, SpendingChanges(costs=dict(costs)))
            return new

        return self._run(write)

    def forget(self, keys: Iterable[str]) -> int:
        """Remove stored calls, for good; returns their number."""
        return sum(self._chunks(keys, AnswerSql.delete_calls))

    def reserve(self, bookings: Sequence[Booking]) -> None:
        """Reserve all bookings, or none; raises `OverBudget` or `MissingPrice`."""

        def write(connection: Connection, sql: AnswerSql) -> None:
            for error in sql.spending.change(connection, SpendingChanges(list(bookings))).values():
                raise error

        self._run(write)

    def settle(self, costs: Mapping[str, int | None]) -> None:
        """Book what was paid, by the id of a booking; None is possibly paid, at its bound."""
        self._change(SpendingChanges(costs=dict(costs)))

    def release(self, bookings: Iterable[str]) -> None:
        """Give up reservations, by their ids, for which surely nothing was paid."""
        self._change(SpendingChanges(releases=set(bookings)))

    def list_spending(self) -> list[SpendingRow]:
        """List spending by month, asset, partition, model and mode."""
        return self._run(lambda connection, sql: sql.spending.list_spending(connection))

    def sum_spending(self, runs: Collection[str]) -> int:
        """Sum what runs spent and reserved, in billionths of a dollar."""
        return self._run(lambda connection, sql: sql.spending.sum_runs(connection, runs))

    def count_answers(self, runs: Collection[str]) -> int:
        """Count the stored answers that runs have paid for, or that cost them nothing."""
        return self._run(lambda connection, sql: sql.spending.count_answers(connection, runs))

    def typical_usage(self, head: str) -> TypicalUsage | None:
        """Mean tokens of the latest 1,000 calls with this head and both counts; None without."""
        checked = self._run(
            lambda connection, sql: sql.find_latest_calls(connection, head, _TYPICAL_OF)
        )
        self._require_sound(checked.damaged)
        if not checked.sound:
            return None
        calls = checked.sound.values()
        tokens = [(call.input_tokens or 0, call.output_tokens or 0) for call in calls]
        return TypicalUsage(len(tokens), *map(fmean, zip(*tokens, strict=True)))

    async def get_or_request(
        self, key: str, ask: Callable[[], Awaitable[Call]], purchase: Purchase | None = None
    ) -> Call | None:
        """The stored call of `key` or, if there is none, the one that `ask` returns, stored.

        None where another process is asking for it. However many ask for a key at once, in
        whichever process, `ask` is awaited once; what it raises is raised to all who share it in
        this event loop, and nothing is stored then. It is cancelled when all of them are. A process
        that is killed loses its claim within a minute.

        With a purchase, its booking is reserved before `ask` is awaited, or `OverBudget` raised,
        and settled or released, as the purchase says then, with the end of it.
        """
        place = (asyncio.get_running_loop(), key)
        flight = self._flights.get(place)
        if flight is None:
            flight = _Flight(asyncio.create_task(self._request_once(key, ask, purchase)))
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

    async def rebook(self, purchase: Purchase, booking: Booking) -> None:
        """Leave what is open of a purchase as possibly paid, and reserve for another attempt.

        Raises `OverBudget` where a budget does not allow for that.
        """
        await self._start().writer.rebook(purchase, booking)

    def close(self) -> None:
        """Write what is under way, give up claims and close connections."""
        running, self._running = self._running, None
        if running is not None and running.process == os.getpid():
            running.writer.close()
            running.database.close()

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        """Close it with the run that used it."""
        self.close()

    async def _request_once(
        self, key: str, ask: Callable[[], Awaitable[Call]], purchase: Purchase | None
    ) -> Call | None:
        writer, claim = self._start().writer, Claim(key, purchase)
        try:
            claim_result = await writer.claim(claim)
            if claim_result is ClaimState.GRANTED:
                return await writer.keep(claim, await ask())
        except BaseException:
            writer.release(claim)
            raise
        return None if claim_result is ClaimState.PENDING else claim_result

    def _chunks(
        self,
        keys: Iterable[str],
        work: Callable[[AnswerSql, Connection, list[str]], Result],
    ) -> Iterator[Result]:
        """`work` of a thousand keys at a time, each in a transaction of its own; of none, once."""

        def run_chunk(chunk: list[str]) -> Result:
            return self._run(lambda connection, sql: work(sql, connection, chunk))

        remaining = split_into_chunks(keys)
        yield run_chunk(next(remaining, []))
        yield from map(run_chunk, remaining)

    def _require_sound(self, damaged: Mapping[str, str]) -> None:
        if damaged:
            raise DamagedAnswers(self._start().database.name, damaged)

    def _run(self, work: Callable[[Connection, AnswerSql], Result]) -> Result:
        return self._start().database.run(work)

    def _change(self, changes: SpendingChanges) -> None:
        self._run(lambda connection, sql: sql.spending.change(connection, changes))

    def _start(self) -> _Running:
        with _STARTING:
            if self._running is None or self._running.process != os.getpid():
                database = build_database(self.url)
                self._running = _Running(os.getpid(), database, StoreWriter(database))
            return self._running
