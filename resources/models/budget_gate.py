"""The budget gate: money reserved, paid and waited for in one round of requests to a model."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from resources.calls import CallStore
from resources.calls.spending import Account, Booking, Purchase, format_month, generate_booking_id
from resources.models.catalog import Model
from resources.models.pricing import compute_cost, to_dollars
from resources.models.replies import ModelReply
from resources.models.request_progress import RequestProgress
from resources.models.requests import Request


@dataclass(slots=True)
class BudgetGate:
    """Open a purchase for each request, and report its cost to the progress.

    `bounds` are what each request may cost, by its key; `clock` gives the time of UTC.
    """

    model: Model
    account: Account
    store: CallStore
    progress: RequestProgress
    bounds: Mapping[str, int | None]
    clock: Callable[[], datetime]
    pictures_note: str = ""
    """Note on the share of a bound that pictures take, if it is most of it."""

    def open_purchase(self, key: str) -> Purchase:
        """Open a purchase of a request's bound, to be reserved with its claim."""
        return Purchase(self._booking(key))

    async def rebook(self, purchase: Purchase) -> None:
        """Leave an attempt as possibly paid and reserve for another; raises `OverBudget`."""
        self.close_purchase(purchase)
        await self.store.rebook(purchase, self._booking(purchase.booking.key))

    def book_reply(self, purchase: Purchase, request: Request, reply: ModelReply) -> str | None:
        """Book a reply; why nothing more may be sent, where it cost more than was reserved.

        The cost of a refusal without token counts is unknown.
        """
        if reply.refusal is None or not reply.usage.is_unknown or self.model.is_stand_in:
            purchase.cost = compute_cost(self.model, request, reply.usage)
        cost, bound = purchase.cost, purchase.booking.bound
        if cost is None or bound is None or cost <= bound:
            return None
        return (
            f"An answer cost ${to_dollars(cost):.6f}, where at most ${to_dollars(bound):.6f} was "
            "reserved for it, so that no budget would hold. In its entry in models.yaml, raise "
            "tokens_per_image if it was shown pictures, else longest_output or the limit among "
            "the parameters (for a model of this machine, deadline_s), or correct the price."
        )

    def close_purchase(self, purchase: Purchase) -> None:
        """Report to the progress how a purchase, or an attempt, ended."""
        if purchase.paid:
            self.progress.record_cost(purchase.cost, purchase.booking.bound)

    def _booking(self, key: str) -> Booking:
        month = format_month(self.clock())
        bound = self.bounds[key]
        return Booking(
            id=generate_booking_id(),
            key=key,
            account=self.account,
            model=self.model.name,
            mode="online",
            month=month,
            bound=bound,
        )


@dataclass(slots=True)
class ReservationQueue:
    """Requests with money reserved; one that found none left waits for one of them to end.

    What is reserved is often many times what is paid in the end: a small budget lets fewer be sent
    at once, and only ends the run when nothing more will be given back.
    """

    ended_count: int = field(init=False, default=0)
    """Number of reservations that have ended; a waiting request compares it."""
    _active: int = field(init=False, default=0)
    _closed: bool = field(init=False, default=False)
    _waiting: deque[asyncio.Future[None]] = field(init=False, default_factory=deque)

    def enter(self) -> None:
        """Try to reserve."""
        self._active += 1

    def leave(self) -> None:
        """End; one of those who wait may try again, and is within from now on."""
        self._active -= 1
        self.ended_count += 1
        self._admit(1)

    async def wait_after_refusal(self, ended: int) -> bool:
        """End without a reservation and wait for another's end; return True to try again.

        `ended` is `ended_count` before the attempt. Without others it returns at once: True if the
        count has changed since, because the refusal may be older. Once closed it returns False.
        """
        self._active -= 1
        if self._closed:
            return False
        if not self._active:
            again = self.ended_count != ended
            self._active += again
            return again
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn
        return True

    def close(self) -> None:
        """Let all in who wait: there is nothing more to wait for."""
        self._closed = True
        self._admit(len(self._waiting))

    def _admit(self, number: int) -> None:
        while number and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                self._active += 1
                number -= 1
                turn.set_result(None)
