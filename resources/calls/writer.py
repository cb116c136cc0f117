"""The one thread of a process that writes to a store: what arrives together shares a commit."""

import asyncio
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from uuid import uuid4

from dagster import get_dagster_logger
from sqlalchemy import Connection

from resources.calls.call import Call, row_of
from resources.calls.damage import DamagedAnswers, Found
from resources.calls.database import Database
from resources.calls.orders import (
    Anew,
    Answered,
    Batch,
    Claim,
    Done,
    Order,
    Reply,
    Standing,
    ended,
)
from resources.calls.spending import Booking, Purchase
from resources.calls.statements import Statements
from resources.faults import Full, StoreError, Unwritable

_LEASE_S = 20.0
_AT_ONCE = 500
_GATHER_S = 0.002
"""How long the first of a batch waits for others: far less than a model takes to answer."""


class Writer:
    """Claims keys, keeps answers and renews leases, in a thread that ends with `close`.

    Its methods may be called from any event loop; replies are handed back to the loop that asked,
    all those of a transaction together. They raise what `Database.run` does.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owner = uuid4().hex
        self._orders: queue.SimpleQueue[tuple[Claim, Order] | None]
        self._orders = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="call store", daemon=True)
        self._sending = threading.Lock()
        self._closed = False
        self._held: dict[str, Claim] = {}
        self._left_behind: set[Claim] = set()
        self._renew_at = 0.0

    async def claim(self, claim: Claim) -> Call | Standing:
        """The stored call of a key, or whether it was granted.

        Raises `OverBudget` or `NoPrice` where the money for it cannot be reserved; it is not
        granted then.
        """
        reply: Reply = asyncio.get_running_loop().create_future()
        self._send(claim, reply)
        found: Call | Standing = await reply
        return found

    async def keep(self, claim: Claim, call: Call) -> Call:
        """Store the answer to a claim that was granted, and return what is stored then.

        It is written even if the waiting for it is cancelled, and it is another's answer where
        that was first.
        """
        reply: Reply = asyncio.get_running_loop().create_future()
        self._send(claim, Answered(call, row_of(call), reply))
        stored: Call = await reply
        return stored

    async def anew(self, purchase: Purchase, booking: Booking) -> None:
        """Leave the open booking of a purchase as possibly paid, and reserve for another attempt.

        Raises `OverBudget` where that cannot be; the first is left all the same.
        """
        reply: Reply = asyncio.get_running_loop().create_future()
        left = purchase.open_anew(booking)
        self._send(Claim(booking.key, purchase), Anew(left, booking, reply))
        await reply

    def release(self, claim: Claim) -> None:
        """Give a claim up, whether it was granted or not."""
        with suppress(StoreError):
            self._send(claim, None)

    def close(self) -> None:
        """Write what is waiting to be written, give up all claims and end the thread."""
        with self._sending:
            self._closed = True
            self._orders.put(None)
        if self._thread.ident is not None:
            self._thread.join()

    def _send(self, claim: Claim, order: Order) -> None:
        with self._sending:
            if self._closed:
                raise StoreError(f"{self._database.name} was closed while it was in use.")
            if self._thread.ident is None:
                self._thread.start()
            self._orders.put((claim, order))

    def _work(self) -> None:
        last = False
        while not last:
            batch = self._next()
            last = batch.last
            renewing = set(self._held) if time.monotonic() >= self._renew_at else set()
            if batch or renewing:
                self._carry_out(batch, renewing)
        self._left_behind.update(self._held.values())
        if self._left_behind:
            self._database.reserve.release()
            with suppress(StoreError):
                self._database.run(self._leave_all, patient=False)

    def _leave_all(self, connection: Connection, sql: Statements) -> None:
        sql.leave(connection, {claim.key for claim in self._left_behind}, self._owner)
        sql.money.change(connection, ended(self._left_behind))

    def _next(self) -> Batch:
        """What has arrived; waits for something to do, at most until leases are to be renewed."""
        batch = Batch()
        wait = max(0.0, self._renew_at - time.monotonic()) if self._held else None
        with suppress(queue.Empty):
            order = self._orders.get(timeout=wait)
            if order is not None:
                time.sleep(_GATHER_S)
            while order is not None:
                self._add(batch, *order)
                if len(batch) >= _AT_ONCE:
                    return batch
                order = self._orders.get_nowait()
            batch.last = True
        return batch

    def _add(self, batch: Batch, claim: Claim, order: Order) -> None:
        if isinstance(order, Answered):
            batch.answers[claim] = order
        elif isinstance(order, Anew):
            batch.anew.append(order)
        elif order is not None:
            batch.wishes[claim] = order
        elif batch.wishes.pop(claim, None) is None and self._held.get(claim.key) is claim:
            batch.releases.add(claim)

    def _carry_out(self, batch: Batch, renewing: set[str]) -> None:
        self._hold_room(batch)
        ends = batch.ends()
        if renewing or not self._held:
            self._renew_at = time.monotonic() + _LEASE_S / 3
        try:
            done = self._written(batch, renewing)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
            self._left_behind |= ends
            for claim in ends:
                self._held.pop(claim.key, None)
            if not batch.replies():
                get_dagster_logger().warning("Claims were not renewed or given up: %s", error)
            _hand_back(dict.fromkeys(batch.replies(), error))
            return
        results: dict[Reply, Call | Standing | Exception | None] = {}
        for claim, reply in batch.wishes.items():
            if claim not in done.granted:
                results[reply] = done.stored.get(claim.key, Standing.PENDING)
            elif claim.purchase is not None and claim.purchase.booking.id in done.refused:
                results[reply] = done.refused[claim.purchase.booking.id]
            else:
                self._held[claim.key] = claim
                results[reply] = Standing.GRANTED
        for claim, answer in batch.answers.items():
            stored = done.stored.get(claim.key)
            results[answer.reply] = stored if isinstance(stored, Call) else answer.call
        for order in batch.anew:
            results[order.reply] = done.refused.get(order.booking.id)
        for claim in ends:
            self._held.pop(claim.key, None)
        _hand_back(results)

    def _hold_room(self, batch: Batch) -> None:
        """Let nobody ask unless there is room for the answer."""
        if batch.wishes:
            try:
                self._database.reserve.hold()
            except StoreError as error:
                _refuse(batch, error)

    def _written(self, batch: Batch, renewing: set[str]) -> Done:
        """Carry out a transaction; for answers, which are paid for, room was kept free."""

        def write(connection: Connection, sql: Statements) -> Done:
            return self._write(connection, sql, batch, renewing)

        try:
            return self._database.run(write, patient=bool(batch.replies()))
        except (Full, Unwritable) as error:
            if not batch.answers:
                raise
            _refuse(batch, error)
            self._database.reserve.release()
            return self._database.run(write, paid=True)

    def _write(
        self, connection: Connection, sql: Statements, batch: Batch, renewing: set[str]
    ) -> Done:
        """One transaction; it may be repeated, for it comes to the same.

        Claims are taken before answers are looked for: one that is committed between the two is
        seen. Rows of claims, also those that are left, are locked first and in order of key; the
        sums of money, which all processes share, last.
        """
        wished = {claim.key for claim in batch.wishes}
        leaving = {claim.key for claim in batch.ends()}
        mine = sql.claim(connection, wished | leaving | renewing, self._owner, _LEASE_S)
        looked_for = wished
        if batch.answers:
            new = sql.keep(connection, [answer.row for answer in batch.answers.values()])
            looked_for = wished | {claim.key for claim in batch.answers if claim.key not in new}
        found = sql.stored(connection, looked_for) if looked_for else Found[Call]()
        stored: dict[str, Call | DamagedAnswers] = {**found.sound}
        for key, model in found.damaged.items():
            stored[key] = DamagedAnswers(self._database.name, {key: model})
        free = (mine & wished) - stored.keys() - self._held.keys()
        first = {claim.key: claim for claim in reversed(batch.wishes) if claim.key in free}
        granted = [claim for claim in batch.wishes if first.get(claim.key) is claim]
        changes = ended(batch.ends())
        changes.costs.update((order.left, None) for order in batch.anew)
        wanted = {claim.purchase.booking.id: claim for claim in granted if claim.purchase}
        anew = [order.booking for order in batch.anew]
        changes.bookings += [one for one in anew if one.id not in changes.releases]
        changes.bookings += [claim.purchase.booking for claim in granted if claim.purchase]
        refused = sql.money.change(connection, changes) if changes else {}
        needless = {key for key in mine & wished if key in stored and key not in self._held}
        needless |= {claim.key for booking, claim in wanted.items() if booking in refused}
        if leaving or needless:
            sql.leave(connection, leaving | needless, self._owner)
        return Done(set(granted), stored, refused)


def _refuse(batch: Batch, error: StoreError) -> None:
    """Let nobody else ask: what is on its way already can be stored, or be held until it can."""
    _hand_back(dict.fromkeys(batch.wishes.values(), error))
    batch.wishes.clear()


def _hand_back(results: Mapping[Reply, Call | Standing | Exception | None]) -> None:
    """Wake each event loop once."""
    by_loop = defaultdict(list)
    for reply, result in results.items():
        by_loop[reply.get_loop()].append((reply, result))
    for loop, replies in by_loop.items():
        # A loop that has ended meanwhile has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, replies)


def _settle(replies: list[tuple[Reply, Call | Standing | Exception | None]]) -> None:
    for reply, result in replies:
        if reply.done():
            continue
        if isinstance(result, Exception):
            reply.set_exception(result)
        else:
            reply.set_result(result)
