"""Claims: a table of which process is working on a key at the moment, and the SQL for it.

A claim counts until its lease ends, by the clock of the PostgreSQL server or of this machine for
SQLite. A clock that was set back leaves leases that end too far ahead: whoever wants such a key
shortens its lease, so that an owner that lives renews it and a dead one loses it.
"""

import json
import time
from collections.abc import Collection
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Double,
    MetaData,
    String,
    Table,
    TableValuedAlias,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    or_,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

LEASE_S = 20.0
"""Seconds after which a claim that is not renewed is over; it is renewed three times as often."""


def build_claims_table(name: str, tables: MetaData) -> Table:
    """Build a table of claims."""
    return Table(
        name,
        tables,
        Column("key", String, primary_key=True),
        Column("owner", String, nullable=False),
        Column("lease_end", Double, nullable=False),
    )


def build_keys_table(dialect: str) -> TableValuedAlias:
    """Build a table of one column, `value`, from the parameter `keys`: a JSON list."""
    keys_json = bindparam("keys", type_=Text)
    if dialect == "postgresql":
        elements = func.json_array_elements_text(cast(keys_json, postgresql.JSON))
    else:
        elements = func.json_each(keys_json)
    return elements.table_valued("value").alias("wanted")


class ClaimSql:
    """The SQL of one dialect for one table of claims."""

    def __init__(self, claims: Table, dialect: str) -> None:
        self._on_server = on_server = dialect == "postgresql"
        keys = build_keys_table(dialect)
        insert = postgresql.insert if on_server else sqlite.insert
        self._current_time = current_time = (
            func.extract("epoch", func.now()) if on_server else bindparam("now", type_=Double)
        )
        lease, owner = bindparam("lease", type_=Double), bindparam("owner", type_=String)
        claim = insert(claims).from_select(
            ["key", "owner", "lease_end"],
            # In order of key everywhere: two that wait for each other's rows cannot come about.
            select(keys.c.value, owner, current_time + lease).order_by(keys.c.value),
        )
        is_over = claims.c.lease_end < current_time
        if on_server:
            # While the server was away no claim could be renewed: all get one lease's time.
            started = func.extract("epoch", func.pg_postmaster_start_time())
            is_over = and_(is_over, started + lease < current_time)
        may_claim = or_(claims.c.owner == claim.excluded.owner, is_over)
        # Twice as far: transactions that wait for each other begin at different times.
        is_too_long = claims.c.lease_end > current_time + 2 * LEASE_S
        self._claim = claim.on_conflict_do_update(
            index_elements=[claims.c.key],
            set_={
                "owner": case((may_claim, claim.excluded.owner), else_=claims.c.owner),
                "lease_end": claim.excluded.lease_end,
            },
            where=or_(may_claim, is_too_long),
        ).returning(claims.c.key, claims.c.owner)
        self._release = delete(claims).where(
            claims.c.owner == owner, claims.c.key.in_(select(keys.c.value))
        )
        is_stale = claims.c.lease_end < current_time - bindparam("age", type_=Double)
        self._count_stale = select(func.count()).select_from(claims).where(is_stale)
        self._delete_stale = delete(claims).where(is_stale)

    def claim(
        self, connection: Connection, keys: Collection[str], owner: str, lease: float
    ) -> set[str]:
        """Claim keys, or renew claims, for `lease` seconds; returns the owner's."""
        values = {"keys": json.dumps(list(keys)), "owner": owner, "lease": lease}
        rows = connection.execute(self._claim, values | self._build_clock())
        return {key for key, key_owner in rows if key_owner == owner}

    def release(self, connection: Connection, keys: Collection[str], owner: str) -> None:
        """Give up the owner's claims of some keys."""
        connection.execute(self._release, {"keys": json.dumps(list(keys)), "owner": owner})

    def count_stale(self, connection: Connection, age: float) -> int:
        """Count the claims whose leases ended more than `age` seconds ago."""
        values = {"age": age} | self._build_clock()
        return int(connection.scalar(self._count_stale, values) or 0)

    def delete_stale(self, connection: Connection, age: float) -> None:
        """Remove the claims whose leases ended more than `age` seconds ago."""
        connection.execute(self._delete_stale, {"age": age} | self._build_clock())

    def _build_clock(self) -> dict[str, Any]:
        """The parameter for the time, where a server does not know it better."""
        return {} if self._on_server else {"now": time.time()}
