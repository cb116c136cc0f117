"""Checksums of stored rows, which are verified when a row is read.

Those of calls are text: 16 digits of the key, by which a call is found whose own key was damaged,
then two hashes of 64 bits, so that an answer is verified without its request, the larger part.

Those of money are numbers below a prime, and linear in the amounts: SQL can add to an amount and to
its checksum without a row being read for it. Every change of one amount is detected.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

KEY_DIGITS = 16
"""Digits of a checksum that are those of the key."""
PRIME = 2**61 - 1

ANSWER_COLUMNS = ("key", "answer", "served_model", "input_tokens", "output_tokens")
_REST = ("key", "backend", "model", "kind", "request", "seconds", "mode", "finished_at")
_FIXED = ("id", "key", "asset", "partition", "run", "model", "mode", "month", "bound")
_STATES = {"reserved": 0, "possibly paid": 1, "paid": 2}


def call_checksum(row: Mapping[Any, Any]) -> str:
    """The checksum of a call's columns."""
    return f"{_answer_checksum(row)}{_hash([row[name] for name in _REST])}"


def is_sound_call(row: Mapping[Any, Any]) -> bool:
    """True where a call is as it was written."""
    return bool(row["checksum"] == call_checksum(row))


def is_sound_answer(row: Mapping[Any, Any]) -> bool:
    """True where an answer is as it was written; the rest of the call is not checked."""
    return str(row["checksum"]).startswith(_answer_checksum(row))


def booking_checksum(row: Mapping[Any, Any]) -> int:
    """The checksum of a booking's columns while it is reserved."""
    return _number([row[name] for name in _FIXED])


def settled_checksum(booking: str, cost: int | None) -> int:
    """The addition to a booking's checksum when it is settled."""
    state = "possibly paid" if cost is None else "paid"
    return _number(["settled", booking]) * (_STATES[state] + (cost or 0)) % PRIME


def is_sound_booking(row: Mapping[Any, Any]) -> bool:
    """True where a booking is as it was written."""
    if not _has_a_state(row):
        return False
    settled = 0 if row["state"] == "reserved" else settled_checksum(row["id"], row["cost"])
    return bool(row["checksum"] == (booking_checksum(row) + settled) % PRIME)


def _has_a_state(row: Mapping[Any, Any]) -> bool:
    cost, state = row["cost"], row["state"]
    return state in _STATES and (state == "paid") == isinstance(cost, int)


def total_checksum(scope: str, spent: int, reserved: int) -> int:
    """The checksum of a sum, and of what is added to one."""
    return (_number(["spent", scope]) * spent + _number(["reserved", scope]) * reserved) % PRIME


def is_sound_total(row: Mapping[Any, Any]) -> bool:
    """True where a sum is as it was written."""
    amounts = row["spent"], row["reserved"]
    if not all(isinstance(amount, int) for amount in amounts):
        return False
    return bool(row["checksum"] == total_checksum(row["scope"], *amounts))


def _answer_checksum(row: Mapping[Any, Any]) -> str:
    return f"{str(row['key'])[:KEY_DIGITS]}{_hash([row[name] for name in ANSWER_COLUMNS])}"


def _hash(values: list[Any]) -> str:
    return blake2b(_bytes(values), digest_size=8).hexdigest()


def _number(values: list[Any]) -> int:
    return int.from_bytes(blake2b(_bytes(values), digest_size=8).digest(), "big") % PRIME


def _bytes(values: list[Any]) -> bytes:
    # A damaged row may hold anything, such as bytes where text was.
    return json.dumps(values, default=repr).encode()
