"""The tables of the call store's database.

`calls` holds answers, for good. `claims` holds the process that is requesting one at the moment.
`spending` holds what was reserved and paid, a row for each attempt that may cost something, and
`spending_totals` its sums, by run and by month, which are written in the same transactions. Rows of
these three carry a checksum.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

from resources.database.claims import build_claims_table

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
    Column("checksum", String, nullable=False),
)
CLAIMS = build_claims_table("claims", TABLES)
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
    Column("checksum", BigInteger, nullable=False),
)
TOTALS = Table(
    "spending_totals",
    TABLES,
    Column("scope", String, primary_key=True),
    Column("spent", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    Column("checksum", BigInteger, nullable=False),
)

_BEFORE_THE_REQUEST = ',"request":'
_LONGEST_HEAD = 500
_HEAD = {
    "sqlite": "substr(request, 1, min(instr(request, '{0}'), {1}))",
    "postgresql": "left(request, least(strpos(request, '{0}'), {1}))",
}


def format_head_sql(dialect: str) -> str:
    """SQL for the head of a stored request: backend, kind, model, parameters; it is indexed."""
    return _HEAD[dialect].format(_BEFORE_THE_REQUEST, _LONGEST_HEAD)


def cut_request_head(canonical: str) -> str:
    """The head of a canonical request, as `format_head_sql` cuts it."""
    return canonical[: min(canonical.index(_BEFORE_THE_REQUEST) + 1, _LONGEST_HEAD)]
