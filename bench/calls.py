"""Looking up 1,000 calls in a store that grows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from sqlalchemy import Connection

from bench.figure import Figure
from resources.calls import Call, CallStore
from resources.calls.answer_sql import AnswerSql
from resources.calls.call import to_call_row
from resources.calls.database_url import build_database

SIZES = (1_000, 10_000, 100_000, 1_000_000)
_LOOKED_UP, _TIMES = 1_000, 5
_CHUNK = 5_000


class Lookup(NamedTuple):
    """Milliseconds for 1,000 calls, decoded, of a store that holds `stored`; the middle of five."""

    stored: int
    milliseconds: float


def figures(most: int = 100_000) -> Iterator[Figure]:
    """Lookups in a store that grows to `most` calls."""
    with TemporaryDirectory() as folder:
        sizes = [size for size in SIZES if size <= most]
        for stored, milliseconds in by_stored(f"sqlite:///{folder}/calls.sqlite", sizes):
            yield Figure(f"looking up 1,000 calls of {stored:,}", milliseconds, "ms")


def by_stored(url: str, sizes: Sequence[int] = SIZES) -> Iterator[Lookup]:
    """Fill an empty store step by step; at each size, look up calls from all over it."""
    start = 0
    for size in sizes:
        fill(url, range(start, size))
        start = size
        step = max(1, size // _LOOKED_UP)
        keys = [_key(number) for number in range(0, size, step)][:_LOOKED_UP]
        yield Lookup(size, median(_look_up(url, keys) for _ in range(_TIMES)))


def fill(url: str, numbers: range) -> None:
    """Store calls as they are written for a judge's short answers, about 1 KB each."""
    with closing(build_database(url)) as database:
        for start in range(numbers.start, numbers.stop, _CHUNK):
            database.run(_keeping(range(start, min(start + _CHUNK, numbers.stop))))


def _keeping(numbers: range) -> Callable[[Connection, AnswerSql], object]:
    rows = [to_call_row(_call(number)) for number in numbers]
    return lambda connection, sql: sql.store_calls(connection, rows)


def _look_up(url: str, keys: list[str]) -> float:
    with closing(CallStore(url=url)) as store:
        store.find_calls([])
        started = perf_counter()
        found = store.find_calls(keys)
        spent = perf_counter() - started
    assert len(found) == len(keys)
    return 1000 * spent


def _key(number: int) -> str:
    return sha256(str(number).encode()).hexdigest()


_CALL = Call(
    key="",
    backend="openai",
    model="gpt-5",
    kind="look",
    request={"turns": [{"role": "user", "text": "How many legs does it have? " * 15}]},
    answer={"outcome": "answered", "text": "Counted one by one, these are {5}. " * 10},
    served_model="gpt-5-2026-11-01",
    input_tokens=900,
    output_tokens=60,
    seconds=1.5,
    mode="online",
    finished_at=datetime(2026, 11, 21, tzinfo=UTC),
)


def _call(number: int) -> Call:
    return replace(_CALL, key=_key(number))
