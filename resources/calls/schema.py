"""The schema of the call store: its tables and indexes, and sums of money that agree with rows."""

from collections import defaultdict

from dagster import get_dagster_logger
from sqlalchemy import Connection, delete, insert, select, text

from resources.calls.answer_sql import AnswerSql
from resources.calls.checksums import KEY_DIGITS, is_sound_booking, is_sound_total
from resources.calls.spending_sql import SpendingTotal, build_total_rows, format_scopes
from resources.calls.sql_tables import SPENDING, TABLES, TOTALS, format_head_sql
from resources.database.schema import Schema, list_schema_names

_INDEXES = {
    "calls_by_model": "calls (({head}), finished_at)",
    "calls_by_checksum": f"calls ((substr(checksum, 1, {KEY_DIGITS})))",
}

_BATCH_SIZE = 2000


class CallSchema(Schema[AnswerSql]):
    """Answers, claims to request them, batches and money."""

    tables = TABLES
    damage_note = "It holds answers that were paid for, so nothing was changed and nothing is sent."

    def build_sql(self, dialect: str) -> AnswerSql:
        """The SQL of a dialect, built once."""
        return AnswerSql.for_dialect(dialect)

    def build_index_statements(self, dialect: str) -> list[str]:
        """Build the statements for indexes on expressions."""
        head = format_head_sql(dialect)
        return [
            f"CREATE INDEX IF NOT EXISTS {name} ON {on.format(head=head)}"
            for name, on in _INDEXES.items()
        ]

    def is_complete(self, connection: Connection) -> bool:
        """True where no table or index is missing, and all sums of money are sound."""
        return {*TABLES.tables, *_INDEXES} <= list_schema_names(connection) and all(
            is_sound_total(row) for row in connection.execute(select(TOTALS)).mappings()
        )

    def create_missing(self, connection: Connection) -> None:
        """Create what is missing, and mend sums; raises ValueError for damaged money."""
        super().create_missing(connection)
        totals = connection.execute(select(TOTALS)).mappings().all()
        damaged = [ascii(row["scope"]) for row in totals if not is_sound_total(row)]
        if damaged:
            _sum_anew(connection)
            get_dagster_logger().warning(
                "Sums of money in the call store were damaged, and were made anew from the "
                "bookings: %s",
                ", ".join(damaged),
            )


def _sum_anew(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE spending, spending_totals IN EXCLUSIVE MODE"))
    totals: dict[str, SpendingTotal] = defaultdict(SpendingTotal)
    rows = connection.execute(select(SPENDING).execution_options(yield_per=_BATCH_SIZE))
    for row in rows.mappings():
        if not is_sound_booking(row):
            raise ValueError(f"its sums of money and the booking {row['id']!a}")
        amount = (row["bound"] if row["cost"] is None else row["cost"]) or 0
        for scope in format_scopes(row["run"], row["month"]):
            if row["state"] == "reserved":
                totals[scope].reserved += amount
            else:
                totals[scope].spent += amount
    connection.execute(delete(TOTALS))
    if totals:
        connection.execute(insert(TOTALS), build_total_rows(totals))
