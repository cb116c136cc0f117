"""Money that is reserved for requests and booked for answers, in whole billionths of a dollar.

The most that a request may cost is reserved before it is sent; the cost of its answer then takes
the place of that. An unconfirmed charge stays booked at its upper bound.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeAlias
from uuid import uuid4

NANO = 1_000_000_000
"""Billionths in a dollar."""

Mode: TypeAlias = Literal["online", "batch"]


@dataclass(frozen=True, slots=True)
class Account:
    """The asset, partition and run that requests are sent for, by which costs are booked.

    `per_run`, `per_month` and `per_partition` are the budgets that hold, in US dollars; None is no
    limit. Months are those of UTC, over everything that the call store knows of; that of a
    partition is for all runs of the asset's partition.
    """

    asset: str = ""
    partition: str = ""
    run: str = ""
    per_run: float | None = None
    per_month: float | None = None
    per_partition: float | None = None
    per_partition_source: str = ""
    """Setting that `per_partition` comes from: errors name it."""
    remake_lost_pictures: bool = False
    """Pay again for paid pictures that are missing."""
    replace_damaged_answers: bool = False
    """Pay again for paid answers that are damaged."""
    replace_malformed_answers: bool = False
    """Pay again for paid replies without an answer."""

    @property
    def has_budget(self) -> bool:
        """True where any budget is set."""
        return (self.per_run, self.per_month, self.per_partition) != (None, None, None)


@dataclass(frozen=True, slots=True)
class Booking:
    """Money reserved for one request; `bound` is the most it can cost, None where unknown.

    `key` is that of the call, `model` its name in models.yaml, and `month` ("2026-11", of UTC) the
    one in which it was reserved, to which it belongs whenever it is paid.
    """

    id: str
    key: str
    account: Account
    model: str
    mode: Mode
    month: str
    bound: int | None


class SpendingRow(NamedTuple):
    """Spending of one asset and partition in a month on one model, in billionths of a dollar.

    `requests` are all that were paid for or may have been, `paid` is what answers cost, and
    `possibly_paid` is the upper bound of requests of which it cannot be known: those that ran into
    a time limit, were broken off, whose process was killed, or that are still on their way.
    `unknown` counts requests without a price.
    """

    month: str
    asset: str
    partition: str
    model: str
    mode: str
    requests: int
    paid: int
    possibly_paid: int
    unknown: int


class TypicalUsage(NamedTuple):
    """Mean tokens of `n` answers, the latest of their kind."""

    n: int
    input_tokens: float
    output_tokens: float


@dataclass(slots=True)
class Purchase:
    """The money of one request through its attempts; the store reads it when the request ends.

    Of the open booking, `paid` says that it was paid or may have been, which holds from the moment
    of sending until something else is known, and `cost` what it was, where that is known.
    """

    booking: Booking
    paid: bool = field(default=False, init=False)
    cost: int | None = field(default=None, init=False)

    def rebook(self, booking: Booking) -> str:
        """Open another booking; returns the id of the one before."""
        previous_id, self.booking = self.booking.id, booking
        self.paid, self.cost = False, None
        return previous_id


def generate_booking_id() -> str:
    """An id for a booking."""
    return uuid4().hex


def format_month(moment: datetime) -> str:
    """The month to which money spent at that moment is booked: "2026-11", of UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m")
