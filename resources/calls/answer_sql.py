"""SQL for answers and claims."""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    Connection,
    Integer,
    Result,
    String,
    and_,
    bindparam,
    delete,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite

from resources.calls.call import Call, StoredAnswer, parse_answer_row, parse_call_row
from resources.calls.checksums import (
    ANSWER_COLUMNS,
    KEY_DIGITS,
    call_checksum,
    is_sound_answer,
    is_sound_call,
)
from resources.calls.damaged_answers import CheckedRows
from resources.calls.spending_sql import SpendingSql
from resources.calls.sql_tables import CALLS, CLAIMS, format_head_sql
from resources.database.claims import ClaimSql, build_keys_table


class AnswerSql:
    """The SQL of one dialect; keys travel as one JSON parameter, however many they are."""

    def __init__(self, dialect: str) -> None:
        self.spending = SpendingSql(dialect)
        """The SQL for the tables of money."""
        self.claims = ClaimSql(CLAIMS, dialect)
        """The SQL for claims to request a key."""
        insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
        keys = build_keys_table(dialect)
        self._stored = select(CALLS).join(keys, CALLS.c.key == keys.c.value)
        self._keep = insert(CALLS).on_conflict_do_nothing().returning(CALLS.c.key)
        self._stored_keys = select(keys.c.value).join(CALLS, CALLS.c.key == keys.c.value)
        seconds = select(CALLS.c.key, CALLS.c.seconds).join(keys, CALLS.c.key == keys.c.value)
        self._seconds = seconds.where(CALLS.c.mode == "online")
        answers = select(*(CALLS.c[name] for name in (*ANSWER_COLUMNS, "checksum")))
        self._answers = answers.join(keys, CALLS.c.key == keys.c.value)
        of_key = func.substr(keys.c.value, 1, literal_column(f"{KEY_DIGITS}"))
        checksum_key = func.substr(
            CALLS.c.checksum, literal_column("1"), literal_column(f"{KEY_DIGITS}")
        )
        calls_by_checksum = select(CALLS, keys.c.value.label("wanted"))
        self._astray = calls_by_checksum.select_from(keys).join(CALLS, checksum_key == of_key)
        self._models = select(CALLS.c.key, CALLS.c.model).join(keys, CALLS.c.key == keys.c.value)
        self._forget = delete(CALLS).where(CALLS.c.key.in_(select(keys.c.value)))
        after = CALLS.c.key > bindparam("after", type_=String)
        limit = bindparam("limit", type_=Integer)
        self._keys = select(CALLS.c.key).where(after).order_by(CALLS.c.key).limit(limit)
        counted = and_(CALLS.c.input_tokens.is_not(None), CALLS.c.output_tokens.is_not(None))
        head = format_head_sql(dialect)
        alike = select(CALLS).where(text(f"{head} = :head"), counted)
        self._latest = alike.order_by(CALLS.c.finished_at.desc()).limit(limit)

    @classmethod
    @cache
    def for_dialect(cls, dialect: str) -> "AnswerSql":
        """The SQL of "sqlite" or "postgresql", built once."""
        return cls(dialect)

    def find_calls(self, connection: Connection, keys: Collection[str]) -> CheckedRows[Call]:
        """Find stored calls."""
        return _sort_calls(connection.execute(self._stored, {"keys": json.dumps(list(keys))}))

    def find_answers(
        self, connection: Connection, keys: Collection[str]
    ) -> CheckedRows[StoredAnswer]:
        """Find answers, without their requests.

        An answer that is not found by its key is looked up by its checksum: its key may be
        damaged, and it must not be paid for again unnoticed.
        """
        rows = connection.execute(self._answers, {"keys": json.dumps(list(keys))}).mappings()
        checked, damaged = CheckedRows[StoredAnswer](), list[str]()
        for row in rows:
            if is_sound_answer(row):
                checked.sound[row["key"]] = parse_answer_row(row)
            else:
                damaged.append(row["key"])
        if damaged:
            models = connection.execute(self._models, {"keys": json.dumps(damaged)})
            checked.damaged.update((row.key, row.model) for row in models)
        missing = [key for key in keys if key not in checked.sound and key not in checked.damaged]
        if missing:
            rows = connection.execute(self._astray, {"keys": json.dumps(missing)}).mappings()
            astray = rows.all()
            late = self.find_stored_keys(connection, [row["key"] for row in astray])
            for row in astray:
                is_requested = row["key"] == row["wanted"]
                if not is_sound_call(row) or (is_requested and row["key"] not in late):
                    checked.damaged[row["key"]] = row["model"]
                elif is_requested:
                    # Stored between the two looks; by a damaged index it would still not be found.
                    checked.sound[row["key"]] = parse_answer_row(row)
        return checked

    def find_stored_keys(self, connection: Connection, keys: Collection[str]) -> set[str]:
        """Find the keys that have an answer."""
        return set(connection.scalars(self._stored_keys, {"keys": json.dumps(list(keys))}))

    def find_durations(self, connection: Connection, keys: Collection[str]) -> dict[str, float]:
        """The duration of each answer that was sent alone, not in a batch."""
        durations = connection.execute(self._seconds, {"keys": json.dumps(list(keys))})
        return {row.key: row.seconds for row in durations}

    def delete_calls(self, connection: Connection, keys: Collection[str]) -> int:
        """Remove answers; returns their number."""
        return connection.execute(self._forget, {"keys": json.dumps(list(keys))}).rowcount

    def list_keys(self, connection: Connection, after: str, limit: int) -> list[str]:
        """The next keys after one, in order."""
        return list(connection.scalars(self._keys, {"after": after, "limit": limit}))

    def find_latest_calls(self, connection: Connection, head: str, limit: int) -> CheckedRows[Call]:
        """The latest calls whose request has this head, with both their counts of tokens."""
        return _sort_calls(connection.execute(self._latest, {"head": head, "limit": limit}))

    def store_calls(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> set[str]:
        """Store calls; returns the keys of new ones."""
        in_order = sorted(rows, key=lambda row: str(row["key"]))
        checked = [{**row, "checksum": call_checksum(row)} for row in in_order]
        return set(connection.scalars(self._keep, checked))


def _sort_calls(rows: Result[Any]) -> CheckedRows[Call]:
    checked = CheckedRows[Call]()
    for row in rows.mappings():
        if is_sound_call(row):
            checked.sound[row["key"]] = parse_call_row(row)
        else:
            checked.damaged[row["key"]] = row["model"]
    return checked
