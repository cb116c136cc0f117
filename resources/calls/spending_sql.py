"""SQL for the two tables of money; their sums always agree with the rows."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dagster import get_dagster_logger
from sqlalchemy import ColumnElement, Connection, Row, RowMapping, func, select, text
from sqlalchemy.dialects import postgresql, sqlite

from resources.calls.checksums import (
    PRIME,
    booking_checksum,
    is_sound_booking,
    is_sound_total,
    settled_checksum,
    total_checksum,
)
from resources.calls.spending import NANO, Account, Booking, SpendingRow
from resources.calls.sql_tables import CALLS, SPENDING, TOTALS
from resources.faults import CorruptItem, MissingPrice, OverBudget, StoreError

_SETTLE = """
    UPDATE spending
    SET cost = given.cost,
        state = CASE WHEN given.cost IS NULL THEN 'possibly paid' ELSE 'paid' END,
        checksum = (spending.checksum + given.checksum) % {prime}
    FROM ({given}) AS given
    WHERE spending.id = given.id AND spending.state = 'reserved'
    RETURNING {columns}
"""
_RELEASE = """
    DELETE FROM spending WHERE id IN (SELECT id FROM ({given}) AS given) AND state = 'reserved'
    RETURNING {columns}
"""
_THERE = "SELECT id FROM spending WHERE id IN (SELECT id FROM ({given}) AS given)"
_GIVEN = {
    "sqlite": (
        "SELECT json_extract(value, '$[0]') AS id, json_extract(value, '$[1]') AS cost, "
        "json_extract(value, '$[2]') AS checksum FROM json_each(:given)"
    ),
    "postgresql": (
        "SELECT value ->> 0 AS id, CAST(value ->> 1 AS bigint) AS cost, "
        "CAST(value ->> 2 AS bigint) AS checksum FROM json_array_elements(CAST(:given AS json))"
    ),
}
"""Triples of id, cost and what that adds to the checksum, however many, in one JSON parameter."""

_BY = ("month", "asset", "partition", "model", "mode")
_BATCH_SIZE = 2000


@dataclass(slots=True)
class SpendingTotal:
    """The sums of a scope (a run or a month): spent, with unconfirmed charges, and reserved."""

    spent: int = 0
    reserved: int = 0
    sound: bool = True


@dataclass(slots=True)
class SpendingChanges:
    """Changes of money in one transaction; `costs` and `releases` are by the id of a booking."""

    bookings: list[Booking] = field(default_factory=list)
    costs: dict[str, int | None] = field(default_factory=dict)
    releases: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.bookings or self.costs or self.releases)


class SpendingSql:
    """The SQL of one dialect; repeated statements come to the same."""

    def __init__(self, dialect: str) -> None:
        triples_sql = _GIVEN[dialect]
        columns = ", ".join(f"spending.{column.name}" for column in SPENDING.columns)
        self._settle, self._release, self._there = (
            text(sql.format(given=triples_sql, prime=PRIME, columns=columns))
            for sql in (_SETTLE, _RELEASE, _THERE)
        )
        insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
        self._reserve = insert(SPENDING).on_conflict_do_nothing().returning(SPENDING.c.id)
        add = insert(TOTALS)
        self._add = add.on_conflict_do_update(
            index_elements=[TOTALS.c.scope],
            set_={
                "spent": TOTALS.c.spent + add.excluded.spent,
                "reserved": TOTALS.c.reserved + add.excluded.reserved,
                "checksum": (TOTALS.c.checksum + add.excluded.checksum) % PRIME,
            },
        )
        self._totals = self._add.returning(*TOTALS.columns)

    def change(self, connection: Connection, changes: SpendingChanges) -> dict[str, StoreError]:
        """Settle and release, then reserve in order while the budgets last.

        Returns the errors of bookings that cannot be reserved, by their id.
        """
        added: dict[str, SpendingTotal] = defaultdict(SpendingTotal)
        if changes.costs:
            settled = _build_parameters(changes.costs.items())
            for row in _select_sound(connection.execute(self._settle, settled)):
                spent = row.cost if row.cost is not None else row.bound or 0
                _add(
                    added,
                    format_scopes(row.run, row.month),
                    SpendingTotal(spent, -(row.bound or 0)),
                )
        if changes.releases:
            released = _build_parameters((booking, None) for booking in changes.releases)
            for row in _select_sound(connection.execute(self._release, released)):
                _add(added, format_scopes(row.run, row.month), SpendingTotal(0, -(row.bound or 0)))
        allowed, refused = self._select_within_budgets(connection, changes.bookings, added)
        if allowed:
            new = set(connection.scalars(self._reserve, [_row(booking) for booking in allowed]))
            for booking in allowed:
                if booking.id in new:
                    bound = SpendingTotal(0, booking.bound or 0)
                    _add(added, format_scopes(booking.account.run, booking.month), bound)
        if added:
            connection.execute(self._add, build_total_rows(added))
        return refused

    def list_spending(self, connection: Connection) -> list[SpendingRow]:
        """Sum the bookings by `_BY`; raises ValueError where one is damaged."""
        sums: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for row in _iterate_bookings(connection):
            amounts = sums[tuple(row[name] for name in _BY)]
            amounts[0] += 1
            amounts[1] += row["cost"] or 0
            amounts[2] += (row["bound"] or 0) if row["cost"] is None else 0
            amounts[3] += row["cost"] is None and row["bound"] is None
        return [SpendingRow(*key, *sums[key]) for key in sorted(sums)]  # type: ignore[arg-type]

    def sum_runs(self, connection: Connection, runs: Iterable[str]) -> int:
        """Sum what runs spent and reserved, in billionths of a dollar."""
        run_scopes = [format_scopes(run, "")[0] for run in runs]
        totals = connection.execute(select(TOTALS).where(TOTALS.c.scope.in_(run_scopes)))
        rows = totals.mappings().all()
        for row in rows:
            if not is_sound_total(row):
                raise ValueError(f"the sum of {row['scope']!a} is not what was written")
        return sum(row["spent"] + row["reserved"] for row in rows)

    def count_answers(self, connection: Connection, runs: Collection[str]) -> int:
        """Count the stored calls that were booked for runs."""
        booked = select(SPENDING.c.key).where(SPENDING.c.run.in_(runs))
        calls = select(func.count()).select_from(CALLS).where(CALLS.c.key.in_(booked))
        return connection.scalar(calls) or 0

    def _select_within_budgets(
        self,
        connection: Connection,
        bookings: Sequence[Booking],
        added: Mapping[str, SpendingTotal],
    ) -> tuple[list[Booking], dict[str, StoreError]]:
        """The bookings that fit their budgets, and an error for each of the others."""
        limited = [booking for booking in bookings if _budgets(booking)]
        if not limited:
            return list(bookings), {}
        # That nothing is added locks the sums until the end of the transaction: all that it
        # changes, at once and in order, since others hold some of them and wait for the rest.
        all_scopes = {*added}.union(
            *(
                format_scopes(request_booking.account.run, request_booking.month)
                for request_booking in bookings
            )
        )
        locked = connection.execute(
            self._totals, build_total_rows(dict.fromkeys(all_scopes, SpendingTotal()))
        )
        totals: dict[str, SpendingTotal] = defaultdict(SpendingTotal)
        for row in locked.mappings():
            total = SpendingTotal(row["spent"], row["reserved"], is_sound_total(row))
            totals[row["scope"]] = total
        for scope, more in added.items():
            _add(totals, [scope], more)
        # Those of a partition are summed from its bookings: its month's lock puts them in order.
        for account in {booking.account for booking in limited}:
            if account.per_partition is not None:
                totals[_format_partition_scope(account)] = _sum_partition(connection, account)
        limited_ids = _build_parameters((booking.id, None) for booking in limited)
        reserved_before = set(connection.scalars(self._there, limited_ids))
        allowed: list[Booking] = []
        refused: dict[str, StoreError] = {}
        for booking in bookings:
            error = None if booking.id in reserved_before else _refusal(booking, totals)
            if error is not None:
                refused[booking.id] = error
                continue
            allowed.append(booking)
            if booking.id not in reserved_before:
                scopes = format_scopes(booking.account.run, booking.month)
                bound = SpendingTotal(0, booking.bound or 0)
                _add(totals, [*scopes, _format_partition_scope(booking.account)], bound)
        return allowed, refused


def _refusal(booking: Booking, totals: Mapping[str, SpendingTotal]) -> StoreError | None:
    """The error for a booking that goes beyond a budget; None where it fits."""
    for scope, limit, name in _budgets(booking):
        total, kind = totals[scope], scope.partition(":")[0]
        if not total.sound:
            return CorruptItem(
                f"The sum of {name} in the call store ({scope}) is not what was written there. "
                "Nothing was sent. Run again: it is made anew from the bookings when the store is "
                "opened next."
            )
        if booking.bound is None:
            return MissingPrice(
                f"A budget is set for {name}, and what a request to {booking.model} may cost is "
                "unknown. Give its entry in models.yaml a price and a longest_output, or lift the "
                "budget. The request was not sent."
            )
        if total.spent + total.reserved + booking.bound > limit:
            setting = (
                f"per_{kind}_usd (in the launchpad: resources, budget, config; or by the "
                f"environment: COUNTERFACTORY_BUDGET_PER_{kind.upper()})"
            )
            if kind == "run":
                setting = f"--budget of the command, or {setting}"
            elif kind == "partition":
                setting = booking.account.per_partition_source
            return OverBudget(
                f"The budget of {name} is {_usd(limit)}: {_usd(total.spent)} is spent, "
                f"{_usd(total.reserved)} is reserved for requests that are on their way (or were, "
                f"when their process was killed), and the next request to {booking.model} may cost "
                f"up to {_usd(booking.bound)}. It was not sent, and all answers are kept. "
                f"Raise {setting} and run again, or lower the bound: "
                "longest_output, the limit among the parameters, or tokens_per_image where "
                "pictures are shown, of the model in models.yaml."
            )
    return None


def _budgets(booking: Booking) -> list[tuple[str, int, str]]:
    """The scope, the limit and the name of each budget that holds for a booking."""
    account = booking.account
    run, month = format_scopes(account.run, booking.month)
    budgets = []
    if account.per_run is not None:
        budgets.append((run, round(account.per_run * NANO), "this run"))
    if account.per_month is not None:
        budgets.append((month, round(account.per_month * NANO), booking.month))
    if account.per_partition is not None:
        name = f"{account.asset}, {account.partition}"
        scope = _format_partition_scope(account)
        budgets.append((scope, round(account.per_partition * NANO), name))
    return budgets


def format_scopes(run: str, month: str) -> tuple[str, str]:
    """The scopes of a sum: run and month."""
    return f"run:{run}", f"month:{month}"


def _format_partition_scope(account: Account) -> str:
    return f"partition:{account.asset}|{account.partition}"


def _sum_partition(connection: Connection, account: Account) -> SpendingTotal:
    """Sum the bookings of an asset's partition; raises ValueError where one is damaged."""
    total = SpendingTotal()
    is_same_asset = SPENDING.c.asset == account.asset
    is_same_partition = SPENDING.c.partition == account.partition
    for row in _iterate_bookings(connection, is_same_asset, is_same_partition):
        if row["state"] == "reserved":
            total.reserved += row["bound"] or 0
        else:
            total.spent += row["cost"] if row["cost"] is not None else row["bound"] or 0
    return total


def _iterate_bookings(
    connection: Connection, *conditions: ColumnElement[bool]
) -> Iterator[RowMapping]:
    """Iterate over bookings; raises ValueError where one is damaged."""
    query = select(SPENDING).where(*conditions).execution_options(yield_per=_BATCH_SIZE)
    for row in connection.execute(query).mappings():
        if not is_sound_booking(row):
            raise ValueError(
                f"the booking {row['id']!a} of {row['model']!a} is not what was written"
            )
        yield row


def _add(totals: dict[str, SpendingTotal], scopes: Iterable[str], more: SpendingTotal) -> None:
    for scope in scopes:
        totals[scope].spent += more.spent
        totals[scope].reserved += more.reserved


def build_total_rows(totals: Mapping[str, SpendingTotal]) -> list[dict[str, object]]:
    """Rows of sums, in order of scope, so that no two ever wait for each other's rows."""
    return [
        {
            "scope": scope,
            "spent": total.spent,
            "reserved": total.reserved,
            "checksum": total_checksum(scope, total.spent, total.reserved),
        }
        for scope, total in sorted(totals.items())
    ]


def _row(booking: Booking) -> dict[str, object]:
    of_booking = ("id", "key", "model", "mode", "month", "bound")
    row = {name: getattr(booking, name) for name in of_booking}
    row |= {name: getattr(booking.account, name) for name in ("asset", "partition", "run")}
    row |= {"cost": None, "state": "reserved"}
    return row | {"checksum": booking_checksum(row)}


def _build_parameters(pairs: Iterable[tuple[str, int | None]]) -> dict[str, str]:
    triples = [(booking, cost, settled_checksum(booking, cost)) for booking, cost in pairs]
    return {"given": json.dumps(triples)}


def _select_sound(rows: Iterable[Row[Any]]) -> Iterator[Row[Any]]:
    """Yield sound bookings; warns of others, for which sums keep the reserved amount."""
    for row in rows:
        if is_sound_booking(row._mapping):
            yield row
        else:
            get_dagster_logger().warning(
                "The booking %a of %a in the call store is not what was written there: its answer "
                "is kept, and the budgets go on to count what was reserved for it.",
                row.id,
                row.model,
            )


def _usd(nano: int) -> str:
    """Dollars with as many digits as an amount so small needs."""
    return f"${nano / NANO:,.2f}" if nano % (NANO // 100) == 0 else f"${nano / NANO:,.6f}"
