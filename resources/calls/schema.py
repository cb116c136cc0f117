"""Migrations: create the tables of a new database, complete those of an earlier version.

Earlier versions wrote no checksums: their rows get one when the database is opened.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from dagster import get_dagster_logger
from sqlalchemy import Connection, Table, delete, insert, inspect, select, text, update
from sqlalchemy.schema import CreateIndex, CreateTable

from resources.calls.checksums import (
    ABOUT_KEY,
    PRIME,
    booking_checksum,
    call_checksum,
    is_settled_unchecked,
    is_sound_booking,
    is_sound_total,
    settled_checksum,
    total_checksum,
)
from resources.calls.money import Total, scopes, total_rows
from resources.calls.tables import CALLS, SPENDING, TABLES, TOTALS, head_in_sql

_NAMES = {
    "sqlite": "SELECT name FROM sqlite_master",
    "postgresql": "SELECT relname FROM pg_class WHERE pg_table_is_visible(oid)",
}


_INDEXES = {
    "calls_by_model": "calls (({head}), finished_at)",
    "calls_by_checksum": f"calls ((substr(checksum, 1, {ABOUT_KEY})))",
    "calls_unchecked": "calls (key) WHERE checksum IS NULL",
    "spending_unchecked": "spending (id) WHERE checksum IS NULL",
}

_AT_ONCE = 2000
_PLACE = {"sqlite": "rowid", "postgresql": "{key}"}
"""By what rows are gone through: in SQLite by their order in the file, to write each page once."""
_GIVEN = {
    "sqlite": "SELECT json_extract(value, '$[0]') AS place, "
    "json_extract(value, '$[1]') AS checksum FROM json_each(:given)",
    "postgresql": "SELECT value ->> 0 AS place, CAST(value ->> 1 AS {kind}) AS checksum "
    "FROM json_array_elements(CAST(:given AS json))",
}


def is_complete(connection: Connection) -> bool:
    """Whether nothing is missing: neither a table, an index nor a checksum, and all sums agree."""
    names = there(connection)
    return (
        {*TABLES.tables, *_INDEXES} <= names
        and not any(
            # Not compiled for each process that opens the store, which takes longer than to ask.
            connection.exec_driver_sql(
                f"SELECT 1 FROM {table.name} WHERE checksum IS NULL LIMIT 1"
            ).first()
            for table in (CALLS, SPENDING, TOTALS)
        )
        and all(is_sound_total(row) for row in connection.execute(select(TOTALS)).mappings())
    )


def there(connection: Connection) -> set[str]:
    """The names of the tables and indexes that a database has."""
    return set(connection.scalars(text(_NAMES[connection.dialect.name])))


def complete(connection: Connection) -> None:
    """Make what is missing, in a transaction alone; raises ValueError where money is damaged."""
    for table in TABLES.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))
    _add_checksums(connection, CALLS, call_checksum)
    _add_checksums(connection, SPENDING, _checksum_of_booking)
    _add_checksums(connection, TOTALS, _checksum_of_total)
    for statement in indexes(connection.dialect.name):
        connection.execute(text(statement))
    totals = connection.execute(select(TOTALS)).mappings().all()
    damaged = [ascii(row["scope"]) for row in totals if not is_sound_total(row)]
    if damaged:
        _sum_anew(connection)
        get_dagster_logger().warning(
            "Sums of money in the call store were damaged, or written by an earlier version, and "
            "were made anew from the bookings: %s",
            ", ".join(damaged),
        )


def indexes(dialect: str) -> list[str]:
    """What makes the indexes that SQLAlchemy does not make with the tables, where they lack."""
    head = head_in_sql(dialect)
    return [
        f"CREATE INDEX IF NOT EXISTS {name} ON {on.format(head=head)}"
        for name, on in _INDEXES.items()
    ]


def _add_checksums(
    connection: Connection, table: Table, checksum_of: Callable[[Mapping[Any, Any]], str | int]
) -> None:
    """Give a checksum to each row without one, a few thousand rows in memory."""
    kind = table.c.checksum.type.compile(connection.dialect)
    if all(column["name"] != "checksum" for column in inspect(connection).get_columns(table.name)):
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN checksum {kind}"))
    dialect, key = connection.dialect.name, table.primary_key.columns[0].name
    place = _PLACE[dialect].format(key=key)
    page = text(
        f"SELECT {table.name}.{place} AS place, {table.name}.* FROM {table.name} "
        f"WHERE checksum IS NULL AND {place} > :after ORDER BY {place} LIMIT {_AT_ONCE}"
    )
    given = _GIVEN[dialect].format(kind=kind)
    change = text(
        f"UPDATE {table.name} SET checksum = given.checksum FROM ({given}) AS given "
        f"WHERE {table.name}.{place} = given.place"
    )
    after: object = -1 if place == "rowid" else ""
    while rows := connection.execute(page, {"after": after}).mappings().all():
        sums = [(row["place"], checksum_of(row)) for row in rows]
        connection.execute(change, {"given": json.dumps(sums)})
        after = rows[-1]["place"]


def _checksum_of_booking(row: Mapping[Any, Any]) -> int:
    settled = 0 if row["state"] == "reserved" else settled_checksum(row["id"], row["cost"])
    return (booking_checksum(row) + settled) % PRIME


def _checksum_of_total(row: Mapping[Any, Any]) -> int:
    return total_checksum(row["scope"], row["spent"], row["reserved"])


def _sum_anew(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE spending, spending_totals IN EXCLUSIVE MODE"))
    totals: dict[str, Total] = defaultdict(Total)
    unchecked: dict[str, int] = {}
    rows = connection.execute(select(SPENDING).execution_options(yield_per=_AT_ONCE))
    for row in rows.mappings():
        if is_settled_unchecked(row):
            unchecked[row["id"]] = _checksum_of_booking(row)
        elif not is_sound_booking(row):
            raise ValueError(f"its sums of money and the booking {row['id']!a}")
        amount = (row["bound"] if row["cost"] is None else row["cost"]) or 0
        for scope in scopes(row["run"], row["month"]):
            if row["state"] == "reserved":
                totals[scope].reserved += amount
            else:
                totals[scope].spent += amount
    for booking, checksum in unchecked.items():
        of_booking = update(SPENDING).where(SPENDING.c.id == booking)
        connection.execute(of_booking.values(checksum=checksum))
    connection.execute(delete(TOTALS))
    if totals:
        connection.execute(insert(TOTALS), total_rows(totals))
