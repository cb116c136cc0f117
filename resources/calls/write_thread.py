"""The only thread of a process that writes to a store; concurrent writes share a commit."""

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

from resources.calls.answer_sql import AnswerSql
from resources.calls.call import Call, to_call_row
from resources.calls.damaged_answers import CheckedRows, DamagedAnswers
from resources.calls.spending import Booking, Purchase
from resources.calls.transactions import (
    AnswerToStore,
    Claim,
    ClaimState,
    Rebooking,
    StoreOperation,
    Transaction,
    TransactionResult,
    Waiter,
    build_spending_changes,
)
from resources.database.claims import LEASE_S
from resources.database.database import Database
from resources.faults import DiskFull, StoreError, UnwritableStore

_BATCH_SIZE = 500
_GATHER_S = 0.002
"""Time that the first write of a transaction waits for others: far less than an answer takes."""


class StoreWriter:
    """Claims keys, keeps answers and renews leases, in a thread that ends with `close`.

    Its methods may be called from any event loop; replies are handed back to the loop that asked,
    all those of a transaction together. They raise what `Database.run` does.
    """

    def __init__(self, database: Database[AnswerSql]) -> None:
        self._database = database
        self._owner = uuid4().hex
        self._operations: queue.SimpleQueue[tuple[Claim, StoreOperation] | None]
        self._operations = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._carry_out_all, name="call store", daemon=True)
        self._sending = threading.Lock()
        self._closed = False
        self._claims: dict[str, Claim] = {}
        self._left_behind: set[Claim] = set()
        self._renew_at = 0.0

    async def claim(self, claim: Claim) -> Call | ClaimState:
        """The stored call of a key, or whether it was granted.

        Raises `OverBudget` or `MissingPrice` where the money for it cannot be reserved; it is not
        granted then.
        """
        reply: Waiter = asyncio.get_running_loop().create_future()
        self._send(claim, reply)
        claim_result: Call | ClaimState = await reply
        return claim_result

    async def keep(self, claim: Claim, call: Call) -> Call:
        """Store the answer to a claim that was granted, and return what is stored then.

        It is written even if the waiting for it is cancelled, and it is another's answer where
        that was first.
        """
        reply: Waiter = asyncio.get_running_loop().create_future()
        self._send(claim, AnswerToStore(call, to_call_row(call), reply))
        stored: Call = await reply
        return stored

    async def rebook(self, purchase: Purchase, booking: Booking) -> None:
        """Do as `CallStore.rebook`; the first booking is left even where it raises `OverBudget`."""
        reply: Waiter = asyncio.get_running_loop().create_future()
        previous_id = purchase.rebook(booking)
        self._send(Claim(booking.key, purchase), Rebooking(previous_id, booking, reply))
        await reply

    def release(self, claim: Claim) -> None:
        """Give a claim up, whether it was granted or not."""
        with suppress(StoreError):
            self._send(claim, None)

    def close(self) -> None:
        """Write what is waiting to be written, give up all claims and end the thread."""
        with self._sending:
            self._closed = True
            self._operations.put(None)
        if self._thread.ident is not None:
            self._thread.join()

    def _send(self, claim: Claim, operation: StoreOperation) -> None:
        with self._sending:
            if self._closed:
                raise StoreError(f"{self._database.name} was closed while it was in use.")
            if self._thread.ident is None:
                self._thread.start()
            self._operations.put((claim, operation))

    def _carry_out_all(self) -> None:
        last = False
        while not last:
            transaction = self._gather()
            last = transaction.is_last
            renewing = set(self._claims) if time.monotonic() >= self._renew_at else set()
            if transaction or renewing:
                self._carry_out(transaction, renewing)
        self._left_behind.update(self._claims.values())
        if self._left_behind:
            self._database.reserve.release()
            with suppress(StoreError):
                self._database.run(self._leave_all, patient=False)

    def _leave_all(self, connection: Connection, sql: AnswerSql) -> None:
        sql.claims.release(connection, {claim.key for claim in self._left_behind}, self._owner)
        sql.spending.change(connection, build_spending_changes(self._left_behind))

    def _gather(self) -> Transaction:
        """Gather what has arrived; waits for it, at most until leases have to be renewed."""
        transaction = Transaction()
        wait = max(0.0, self._renew_at - time.monotonic()) if self._claims else None
        with suppress(queue.Empty):
            operation = self._operations.get(timeout=wait)
            if operation is not None:
                time.sleep(_GATHER_S)
            while operation is not None:
                self._add(transaction, *operation)
                if len(transaction) >= _BATCH_SIZE:
                    return transaction
                operation = self._operations.get_nowait()
            transaction.is_last = True
        return transaction

    def _add(self, transaction: Transaction, claim: Claim, operation: StoreOperation) -> None:
        if isinstance(operation, AnswerToStore):
            transaction.answers[claim] = operation
        elif isinstance(operation, Rebooking):
            transaction.rebookings.append(operation)
        elif operation is not None:
            transaction.claims[claim] = operation
        elif transaction.claims.pop(claim, None) is None and self._claims.get(claim.key) is claim:
            transaction.releases.add(claim)

    def _carry_out(self, transaction: Transaction, renewing: set[str]) -> None:
        self._hold_room(transaction)
        ended_claims = transaction.ended_claims()
        if renewing or not self._claims:
            self._renew_at = time.monotonic() + LEASE_S / 3
        try:
            outcome = self._commit(transaction, renewing)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
            self._left_behind |= ended_claims
            for claim in ended_claims:
                self._claims.pop(claim.key, None)
            if not transaction.replies():
                get_dagster_logger().warning("Claims were not renewed or given up: %s", error)
            _hand_back(dict.fromkeys(transaction.replies(), error))
            return
        results: dict[Waiter, Call | ClaimState | Exception | None] = {}
        for claim, reply in transaction.claims.items():
            if claim not in outcome.granted:
                results[reply] = outcome.stored.get(claim.key, ClaimState.PENDING)
            elif claim.purchase is not None and claim.purchase.booking.id in outcome.refused:
                results[reply] = outcome.refused[claim.purchase.booking.id]
            else:
                self._claims[claim.key] = claim
                results[reply] = ClaimState.GRANTED
        for claim, answer in transaction.answers.items():
            stored = outcome.stored.get(claim.key)
            results[answer.reply] = stored if isinstance(stored, Call) else answer.call
        for operation in transaction.rebookings:
            results[operation.reply] = outcome.refused.get(operation.booking.id)
        for claim in ended_claims:
            self._claims.pop(claim.key, None)
        _hand_back(results)

    def _hold_room(self, transaction: Transaction) -> None:
        """Reserve disk space before granting claims."""
        if transaction.claims:
            try:
                self._database.reserve.hold()
            except StoreError as error:
                _refuse(transaction, error)

    def _commit(self, transaction: Transaction, renewing: set[str]) -> TransactionResult:
        """Carry out a transaction; for answers, which are paid for, room was kept free."""

        def write(connection: Connection, sql: AnswerSql) -> TransactionResult:
            return self._write(connection, sql, transaction, renewing)

        try:
            return self._database.run(write, patient=bool(transaction.replies()))
        except (DiskFull, UnwritableStore) as error:
            if not transaction.answers:
                raise
            _refuse(transaction, error)
            self._database.reserve.release()
            return self._database.run(write, paid=True)

    def _write(
        self, connection: Connection, sql: AnswerSql, transaction: Transaction, renewing: set[str]
    ) -> TransactionResult:
        """Write a transaction; repeating it has the same effect.

        Claims are taken before answers are looked for: one that is committed between the two is
        seen. Rows of claims, also those that are left, are locked first and in order of key; the
        sums of money, which all processes share, last.
        """
        claimed_keys = {claim.key for claim in transaction.claims}
        ended_keys = {claim.key for claim in transaction.ended_claims()}
        own_keys = sql.claims.claim(
            connection, claimed_keys | ended_keys | renewing, self._owner, LEASE_S
        )
        lookup_keys = claimed_keys
        if transaction.answers:
            new = sql.store_calls(
                connection, [answer.row for answer in transaction.answers.values()]
            )
            lookup_keys = claimed_keys | {
                claim.key for claim in transaction.answers if claim.key not in new
            }
        checked = sql.find_calls(connection, lookup_keys) if lookup_keys else CheckedRows[Call]()
        stored: dict[str, Call | DamagedAnswers] = {**checked.sound}
        for key, model in checked.damaged.items():
            stored[key] = DamagedAnswers(self._database.name, {key: model})
        free = (own_keys & claimed_keys) - stored.keys() - self._claims.keys()
        first = {claim.key: claim for claim in reversed(transaction.claims) if claim.key in free}
        granted = [claim for claim in transaction.claims if first.get(claim.key) is claim]
        changes = build_spending_changes(transaction.ended_claims())
        changes.costs.update((operation.previous_id, None) for operation in transaction.rebookings)
        claims_by_booking = {
            claim.purchase.booking.id: claim for claim in granted if claim.purchase
        }
        rebookings = [operation.booking for operation in transaction.rebookings]
        changes.bookings += [
            new_booking for new_booking in rebookings if new_booking.id not in changes.releases
        ]
        changes.bookings += [claim.purchase.booking for claim in granted if claim.purchase]
        refused = sql.spending.change(connection, changes) if changes else {}
        released_keys = {
            key for key in own_keys & claimed_keys if key in stored and key not in self._claims
        }
        released_keys |= {
            claim.key for booking, claim in claims_by_booking.items() if booking in refused
        }
        if ended_keys or released_keys:
            sql.claims.release(connection, ended_keys | released_keys, self._owner)
        return TransactionResult(set(granted), stored, refused)


def _refuse(transaction: Transaction, error: StoreError) -> None:
    """Refuse the claims of a transaction with an error; answers on their way are stored."""
    _hand_back(dict.fromkeys(transaction.claims.values(), error))
    transaction.claims.clear()


def _hand_back(results: Mapping[Waiter, Call | ClaimState | Exception | None]) -> None:
    """Wake each event loop once."""
    by_loop = defaultdict(list)
    for reply, result in results.items():
        by_loop[reply.get_loop()].append((reply, result))
    for loop, replies in by_loop.items():
        # A loop that has ended meanwhile has no waiter left.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, replies)


def _settle(replies: list[tuple[Waiter, Call | ClaimState | Exception | None]]) -> None:
    for reply, result in replies:
        if reply.done():
            continue
        if isinstance(result, Exception):
            reply.set_exception(result)
        else:
            reply.set_result(result)
