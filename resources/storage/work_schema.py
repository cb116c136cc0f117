"""The record of finished work: its tables, and the SQL for them.

`work` holds results of deterministic work by key. `work_claims` holds the process that is doing a
piece of it at the moment.
"""

import json
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Column, Connection, MetaData, String, Table, Text, select
from sqlalchemy.dialects import postgresql, sqlite

from resources.database.claims import ClaimSql, build_claims_table, build_keys_table
from resources.database.schema import Schema

_TABLES = MetaData()
_WORK = Table(
    "work", _TABLES, Column("key", String, primary_key=True), Column("result", Text, nullable=False)
)
_CLAIMS = build_claims_table("work_claims", _TABLES)


class WorkSql:
    """The SQL of one dialect."""

    def __init__(self, dialect: str) -> None:
        self.claims = ClaimSql(_CLAIMS, dialect)
        """The SQL for claims to do work."""
        keys = build_keys_table(dialect)
        self._find = select(_WORK).join(keys, _WORK.c.key == keys.c.value)
        entry = (postgresql if dialect == "postgresql" else sqlite).insert(_WORK)
        self._record = entry.on_conflict_do_update(
            index_elements=[_WORK.c.key], set_={"result": entry.excluded.result}
        )

    def find_results(self, connection: Connection, keys: Collection[str]) -> dict[str, Any]:
        """Find the results of finished work by key."""
        rows = connection.execute(self._find, {"keys": json.dumps(list(keys))})
        return {row.key: json.loads(row.result) for row in rows}

    def record(self, connection: Connection, results: Mapping[str, Any]) -> None:
        """Keep results; a key that is there already takes the new result."""
        # In order of key everywhere: two that wait for each other's rows cannot come about.
        rows = [{"key": key, "result": json.dumps(results[key])} for key in sorted(results)]
        connection.execute(self._record, rows)


class WorkSchema(Schema[WorkSql]):
    """Results of work, and claims to do it."""

    tables = _TABLES
    damage_note = "It holds results of drawing and measuring, which can be computed again."

    def build_sql(self, dialect: str) -> WorkSql:
        """The SQL of a dialect, built once."""
        return _build_sql(dialect)


@cache
def _build_sql(dialect: str) -> WorkSql:
    return WorkSql(dialect)
