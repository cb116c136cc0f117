"""Batches: requests that a provider answers later at a lower price, and how each batch stands.

`batches` has a row for each batch, for good. `batch_requests` has one for each request that waits
in one, by its key: so it is in no second batch, and not sent alone meanwhile.
"""

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Double,
    Integer,
    Row,
    RowMapping,
    String,
    Table,
    Text,
    Update,
    and_,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from resources.calls.call import to_canonical_text
from resources.calls.database import Database
from resources.calls.sql_tables import TABLES
from resources.storage.chunks import CHUNK_SIZE, split_into_chunks
from resources.untrusted_input.json_text import clean_text

EndedBatchState: TypeAlias = Literal["ended", "failed", "expired", "cancelled"]
"""States of a batch that is over at the provider and not collected yet."""
StoredBatchState: TypeAlias = Literal[
    "submitting", "running", EndedBatchState, "collected", "closed"
]
"""`submitting` until its provider id is known, `collected` until its partition is handled."""
ENDED_STATES: tuple[StoredBatchState, ...] = get_args(EndedBatchState)
OPEN_STATES: tuple[StoredBatchState, ...] = ("submitting", "running", *ENDED_STATES)
"""The states of a batch in which requests wait."""

_BATCHES = Table(
    "batches",
    TABLES,
    Column("tag", String, primary_key=True),
    Column("model", String, nullable=False),
    Column("entry", Text, nullable=False),
    Column("asset", String, nullable=False),
    Column("partition", String, nullable=False),
    Column("run", String, nullable=False),
    Column("config", Text, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("submitted_at", String, nullable=False),
    Column("state", String, nullable=False, index=True),
    Column("provider_id", String),
    Column("provider_status", Text, nullable=False),
    Column("collected_at", String),
    Column("endings", Text, nullable=False),
    Column("lacking", Text),
    Column("owner", String, nullable=False),
    Column("lease_end", Double, nullable=False),
)
_WAITING = Table(
    "batch_requests",
    TABLES,
    Column("key", String, primary_key=True),
    Column("tag", String, nullable=False, index=True),
    Column("request", Text, nullable=False),
    Column("booking", String, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch for one partition of an asset.

    `tag` is its name at the provider, `entry` its model's entry of models.yaml when it was
    submitted, as JSON, and `config` the run config of the asset's op. `provider_status` is the
    provider's own word for the state, and `endings` counts its requests by their ending. `lacking`
    says what the partition still lacked once it was collected; None until that is checked.
    """

    tag: str
    model: str
    entry: str
    asset: str
    partition: str
    run: str
    config: Mapping[str, Any]
    requests: int
    submitted_at: datetime
    state: StoredBatchState = "submitting"
    provider_id: str | None = None
    provider_status: str = ""
    collected_at: datetime | None = None
    endings: Mapping[str, int] = field(default_factory=dict)
    lacking: str | None = None

    @property
    def place(self) -> str:
        """Its asset and partition, in words."""
        return ", ".join(filter(None, (self.asset, self.partition)))


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A canonical request that waits in a batch, and the booking of what it may cost."""

    key: str
    request: Mapping[str, Any]
    booking: str


class BatchStore:
    """The batches in a call store's database; all methods raise what the store's do.

    While a batch is submitted, its row is held by an owner with a lease, renewed by `hold`. Who
    finds the lease over may take it, and then the first owner has lost the batch.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(
        self, batch: Batch, waiting: Sequence[WaitingRequest], owner: str, lease_s: float
    ) -> set[str]:
        """Record a batch that is about to be submitted; returns the keys that it got.

        Keys that wait in another batch stay there, and an empty batch is not recorded.
        """
        rows = [
            {
                "key": request.key,
                "tag": batch.tag,
                "request": to_canonical_text(request.request),
                "booking": request.booking,
            }
            # In order of key everywhere: two that wait for each other's rows cannot come about.
            for request in sorted(waiting, key=lambda request: request.key)
        ]

        def write(connection: Connection, _: object) -> set[str]:
            dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
            connection.execute(dialect.insert(_WAITING).on_conflict_do_nothing(), rows)
            own_keys = select(_WAITING.c.key).where(_WAITING.c.tag == batch.tag)
            keys = set(connection.scalars(own_keys))
            # A repeated transaction, whose first outcome is unknown, comes to the same.
            connection.execute(delete(_BATCHES).where(_BATCHES.c.tag == batch.tag))
            if keys:
                row = _to_row(batch) | {"requests": len(keys), "owner": owner}
                lease_end = _now(connection) + lease_s
                connection.execute(insert(_BATCHES).values(**row, lease_end=lease_end))
            return keys

        return self._database.run(write) if rows else set()

    def hold(self, tags: Collection[str], owner: str, lease_s: float) -> set[str]:
        """Take or keep batches that are being submitted; returns those that the owner has now."""

        def write(connection: Connection, _: object) -> set[str]:
            current_time = _now(connection)
            free = or_(_BATCHES.c.owner == owner, _BATCHES.c.lease_end < current_time)
            free_batches = (
                update(_BATCHES)
                .where(_BATCHES.c.tag.in_(tags), _BATCHES.c.state == "submitting", free)
                .values(owner=owner, lease_end=current_time + lease_s)
            )
            return set(connection.scalars(free_batches.returning(_BATCHES.c.tag)))

        return self._database.run(write)

    def record(self, tag: str, owner: str, provider_id: str) -> bool:
        """Record that the provider has made the batch; False where the owner has lost it."""
        unknown_yet = and_(_BATCHES.c.state == "submitting", _BATCHES.c.provider_id.is_(None))
        recorded = (
            update(_BATCHES)
            .where(
                _BATCHES.c.tag == tag,
                _BATCHES.c.owner == owner,
                or_(unknown_yet, _BATCHES.c.provider_id == provider_id),
            )
            .values(state="running", provider_id=provider_id)
        )
        return self._change(recorded) > 0

    def drop(self, tag: str, owner: str) -> None:
        """Forget a batch that was never made, if it is the owner's; its requests are free again."""

        def write(connection: Connection, _: object) -> None:
            ours = (_BATCHES.c.tag == tag, _BATCHES.c.owner == owner)
            unmade = delete(_BATCHES).where(*ours, _BATCHES.c.state == "submitting")
            if connection.execute(unmade).rowcount:
                connection.execute(delete(_WAITING).where(_WAITING.c.tag == tag))

        self._database.run(write)

    def tell(self, tag: str, state: StoredBatchState, provider_status: str) -> None:
        """Record the provider's state of a batch, unless it is collected already."""
        running_batch = update(_BATCHES).where(
            _BATCHES.c.tag == tag, _BATCHES.c.state.in_(("running", *ENDED_STATES))
        )
        self._change(running_batch.values(state=state, provider_status=clean_text(provider_status)))

    def finish(
        self, tag: str, endings: Mapping[str, int], state: StoredBatchState = "collected"
    ) -> bool:
        """Record that nothing waits in a batch any more; False where that was recorded before."""

        def write(connection: Connection, _: object) -> bool:
            row = {
                "state": state,
                "collected_at": _format_moment(datetime.now(UTC)),
                "endings": json.dumps(endings),
            }
            finished = update(_BATCHES).where(
                _BATCHES.c.tag == tag, _BATCHES.c.state.in_(OPEN_STATES)
            )
            connection.execute(delete(_WAITING).where(_WAITING.c.tag == tag))
            return connection.execute(finished.values(row)).rowcount > 0

        return self._database.run(write)

    def look(self, tag: str, lacking: str) -> None:
        """Record what the partition of a collected batch still lacks."""
        self._change(update(_BATCHES).where(_BATCHES.c.tag == tag).values(lacking=lacking))

    def close(self, tags: Collection[str]) -> None:
        """Record that the partitions of collected batches are handled."""
        closed = update(_BATCHES).where(_BATCHES.c.tag.in_(tags), _BATCHES.c.state == "collected")
        self._change(closed.values(state="closed"))

    def waiting(self, keys: Iterable[str]) -> dict[str, str]:
        """Find the tags of the batches in which keys wait."""
        key_list = list(keys)

        def read(connection: Connection, _: object) -> dict[str, str]:
            columns = select(_WAITING.c.key, _WAITING.c.tag)
            queries = (
                columns.where(_WAITING.c.key.in_(chunk)) for chunk in split_into_chunks(key_list)
            )
            return {row.key: row.tag for query in queries for row in connection.execute(query)}

        return self._database.run(read)

    def requests(self, tag: str) -> Iterator[WaitingRequest]:
        """Yield the requests that wait in a batch, in order of key, read a page at a time."""
        last, database = "", self._database
        columns = select(_WAITING).where(_WAITING.c.tag == tag).order_by(_WAITING.c.key)

        def read(connection: Connection, _: object) -> list[WaitingRequest]:
            page = columns.where(_WAITING.c.key > last).limit(CHUNK_SIZE)
            return [_to_waiting_request(row) for row in connection.execute(page)]

        while page_rows := database.run(read):
            yield from page_rows
            last = page_rows[-1].key

    def find_requests(self, tag: str, keys: Collection[str]) -> dict[str, WaitingRequest]:
        """Find the requests of `keys`, a few hundred at most, that wait in a batch."""
        waiting_rows = select(_WAITING).where(_WAITING.c.tag == tag, _WAITING.c.key.in_(keys))

        def read(connection: Connection, _: object) -> dict[str, WaitingRequest]:
            return {row.key: _to_waiting_request(row) for row in connection.execute(waiting_rows)}

        return self._database.run(read)

    def find(self, tag: str) -> Batch | None:
        """The batch with that tag."""
        batches = self._select_batches(_BATCHES.c.tag == tag)
        return batches[0] if batches else None

    def list_by_state(self, *states: StoredBatchState) -> list[Batch]:
        """List the batches in one of these states, the oldest first."""
        return self._select_batches(_BATCHES.c.state.in_(states))

    def _change(self, statement: Update) -> int:
        """Carry out an update; returns the number of changed rows."""
        return self._database.run(lambda connection, _: connection.execute(statement).rowcount)

    def _select_batches(self, condition: ColumnElement[bool]) -> list[Batch]:
        rows = select(_BATCHES).where(condition).order_by(_BATCHES.c.submitted_at, _BATCHES.c.tag)
        return self._database.run(
            lambda connection, _: [_to_batch(row) for row in connection.execute(rows).mappings()]
        )


def _now(connection: Connection) -> ColumnElement[Any]:
    """The time by the clock of the PostgreSQL server, or of this machine for SQLite."""
    if connection.dialect.name == "postgresql":
        return func.extract("epoch", func.now())
    return literal(time.time())


def _to_row(batch: Batch) -> dict[str, Any]:
    collected_at = batch.collected_at and _format_moment(batch.collected_at)
    return {name: getattr(batch, name) for name in batch.__slots__} | {
        "config": json.dumps(batch.config),
        "submitted_at": _format_moment(batch.submitted_at),
        "collected_at": collected_at,
        "endings": json.dumps(batch.endings),
    }


def _to_batch(row: RowMapping) -> Batch:
    named = {name: value for name, value in row.items() if name not in ("owner", "lease_end")}
    collected_at = row["collected_at"]
    return Batch(
        **{
            **named,
            "config": json.loads(row["config"]),
            "endings": json.loads(row["endings"]),
            "submitted_at": datetime.fromisoformat(row["submitted_at"]),
            "collected_at": collected_at and datetime.fromisoformat(collected_at),
        }
    )


def _to_waiting_request(row: Row[Any]) -> WaitingRequest:
    return WaitingRequest(row.key, json.loads(row.request), row.booking)


def _format_moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
