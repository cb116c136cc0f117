"""The tables of the call store's database.

`calls` holds answers, for good. `claims` holds who is asking for one at the moment. `spending`
holds what was reserved and paid, a row for each attempt that may cost something, and
`spending_totals` its sums, by run and by month, which are written in the same transactions.
"""

from collections.abc import Set

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.schema import CreateIndex, CreateTable

TABLES = MetaData()
CALLS = Table(
    "calls",
    TABLES,
    Column("key", String, primary_key=True),
    Column("backend", String, nullable=False),
    Column("model", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("request", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("served_model", String),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("seconds", Double, nullable=False),
    Column("mode", String, nullable=False),
    Column("finished_at", String, nullable=False),
)
CLAIMS = Table(
    "claims",
    TABLES,
    Column("key", String, primary_key=True),
    Column("owner", String, nullable=False),
    Column("lease_end", Double, nullable=False),
)
SPENDING = Table(
    "spending",
    TABLES,
    Column("id", String, primary_key=True),
    Column("key", String, nullable=False),
    Column("asset", String, nullable=False),
    Column("partition", String, nullable=False),
    Column("run", String, nullable=False),
    Column("model", String, nullable=False),
    Column("mode", String, nullable=False),
    Column("month", String, nullable=False),
    Column("bound", BigInteger),
    Column("cost", BigInteger),
    Column("state", String, nullable=False),
)
TOTALS = Table(
    "spending_totals",
    TABLES,
    Column("scope", String, primary_key=True),
    Column("spent", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
)

_BEFORE_THE_REQUEST = ',"request":'
_LONGEST_HEAD = 500
_HEAD = {
    "sqlite": "substr(request, 1, min(instr(request, '{0}'), {1}))",
    "postgresql": "left(request, least(strpos(request, '{0}'), {1}))",
}
_BY_MODEL = "calls_by_model"
_NAMES = {
    "sqlite": "SELECT name FROM sqlite_master",
    "postgresql": "SELECT relname FROM pg_class WHERE pg_table_is_visible(oid)",
}


def head_in_sql(dialect: str) -> str:
    """How a stored request begins: backend, kind, model and parameters; an index is on this."""
    return _HEAD[dialect].format(_BEFORE_THE_REQUEST, _LONGEST_HEAD)


def head_of(canonical: str) -> str:
    """The same of a canonical request as it is stored."""
    return canonical[: min(canonical.index(_BEFORE_THE_REQUEST) + 1, _LONGEST_HEAD)]


def there(connection: Connection) -> set[str]:
    """The names of the tables and indexes that a database has."""
    return set(connection.scalars(text(_NAMES[connection.dialect.name])))


def is_complete(names: Set[str]) -> bool:
    """Whether nothing of ours is missing among them."""
    return {*TABLES.tables, _BY_MODEL} <= names


def complete(connection: Connection) -> None:
    """Make what is missing, for a new database or for one of an earlier version."""
    for table in TABLES.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))
    head = head_in_sql(connection.dialect.name)
    connection.execute(
        text(f"CREATE INDEX IF NOT EXISTS {_BY_MODEL} ON calls (({head}), finished_at)")
    )
