"""Operations of the thread that writes to a store, gathered into transactions."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from resources.calls.call import Call
from resources.calls.damaged_answers import DamagedAnswers
from resources.calls.spending import Booking, Purchase
from resources.calls.spending_sql import SpendingChanges
from resources.faults import StoreError


class ClaimState(Enum):
    """State of a claim to request a key that has no answer."""

    GRANTED = "yours to request; `keep` an answer or `release` the claim"
    PENDING = "another process is requesting it"


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A claim to request a key, with money reserved where it is granted."""

    key: str
    purchase: Purchase | None = None


Waiter: TypeAlias = asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class AnswerToStore:
    """The answer to a claim that was granted."""

    call: Call
    row: Mapping[str, Any]
    reply: Waiter


@dataclass(frozen=True, slots=True)
class Rebooking:
    """A booking that is left as possibly paid, and another in its place."""

    previous_id: str
    booking: Booking
    reply: Waiter


StoreOperation: TypeAlias = Waiter | AnswerToStore | Rebooking | None


@dataclass(slots=True)
class Transaction:
    """Operations that share one commit."""

    claims: dict[Claim, Waiter] = field(default_factory=dict)
    answers: dict[Claim, AnswerToStore] = field(default_factory=dict)
    rebookings: list[Rebooking] = field(default_factory=list)
    releases: set[Claim] = field(default_factory=set)
    is_last: bool = False

    def __len__(self) -> int:
        return len(self.claims) + len(self.answers) + len(self.rebookings) + len(self.releases)

    def replies(self) -> list[Waiter]:
        """The replies that callers wait for."""
        answered = [answer.reply for answer in self.answers.values()]
        return [
            *self.claims.values(),
            *answered,
            *(operation.reply for operation in self.rebookings),
        ]

    def ended_claims(self) -> set[Claim]:
        """Claims that are given up in it."""
        return {*self.answers, *self.releases}


@dataclass(frozen=True, slots=True)
class TransactionResult:
    """Result of a transaction: calls by key, and errors of budgets by the id of a booking."""

    granted: set[Claim]
    stored: dict[str, Call | DamagedAnswers]
    refused: dict[str, StoreError]


def build_spending_changes(claims: Iterable[Claim]) -> SpendingChanges:
    """Build the changes of money for ended claims: a cost, an unconfirmed charge, or a release."""
    changes = SpendingChanges()
    for claim in claims:
        purchase = claim.purchase
        if purchase is not None and purchase.paid:
            changes.costs[purchase.booking.id] = purchase.cost
        elif purchase is not None:
            changes.releases.add(purchase.booking.id)
    return changes
