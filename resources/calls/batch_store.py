"""Batches: requests that a provider answers later at a lower price, and how each batch stands.

`batches` has a row for each batch, for good. `batch_requests` has one for each request that waits
in one, by its key: so it is in no second batch, and not sent alone meanwhile.
"""

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
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

from resources.calls.answer_sql import AnswerSql
from resources.calls.batch_rows import (
    BATCHES,
    ENDED_STATES,
    OPEN_STATES,
    WAITING,
    Batch,
    StoredBatchState,
    WaitingRequest,
    format_moment,
    to_batch,
    to_row,
    to_waiting_request,
)
from resources.calls.call import to_canonical_text
from resources.database.database import Database
from resources.storage.chunks import CHUNK_SIZE, split_into_chunks
from resources.untrusted_input.json_text import clean_text


class BatchStore:
    """The batches in a call store's database; all methods raise what the store's do.

    While a batch is submitted, an owner holds its row by a lease, which `acquire_leases` renews.
    Once the lease is over, another owner may take the batch, and the first one has lost it.
    """

    def __init__(self, database: Database[AnswerSql]) -> None:
        self._database = database

    def create(
        self, batch: Batch, waiting: Sequence[WaitingRequest], owner: str, lease_s: float
    ) -> set[str]:
        """Record a batch before it is submitted; return the keys that it got.

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
            connection.execute(dialect.insert(WAITING).on_conflict_do_nothing(), rows)
            own_keys = select(WAITING.c.key).where(WAITING.c.tag == batch.tag)
            keys = set(connection.scalars(own_keys))
            # A repeated transaction, whose first outcome is unknown, comes to the same.
            connection.execute(delete(BATCHES).where(BATCHES.c.tag == batch.tag))
            if keys:
                row = to_row(batch) | {"requests": len(keys), "owner": owner}
                lease_end = _now(connection) + lease_s
                connection.execute(insert(BATCHES).values(**row, lease_end=lease_end))
            return keys

        return self._database.run(write) if rows else set()

    def acquire_leases(self, tags: Collection[str], owner: str, lease_s: float) -> set[str]:
        """Take or renew leases of batches in submission; return the tags that the owner has now."""

        def write(connection: Connection, _: object) -> set[str]:
            current_time = _now(connection)
            free = or_(BATCHES.c.owner == owner, BATCHES.c.lease_end < current_time)
            free_batches = (
                update(BATCHES)
                .where(BATCHES.c.tag.in_(tags), BATCHES.c.state == "submitting", free)
                .values(owner=owner, lease_end=current_time + lease_s)
            )
            return set(connection.scalars(free_batches.returning(BATCHES.c.tag)))

        return self._database.run(write)

    def confirm_created(self, tag: str, owner: str, provider_id: str) -> bool:
        """Record that the provider has created the batch; return False if the owner has lost it."""
        unknown_yet = and_(BATCHES.c.state == "submitting", BATCHES.c.provider_id.is_(None))
        recorded = (
            update(BATCHES)
            .where(
                BATCHES.c.tag == tag,
                BATCHES.c.owner == owner,
                or_(unknown_yet, BATCHES.c.provider_id == provider_id),
            )
            .values(state="running", provider_id=provider_id)
        )
        return self._change(recorded) > 0

    def discard(self, tag: str, owner: str) -> None:
        """Delete an owner's batch that was never created, which frees its requests."""

        def write(connection: Connection, _: object) -> None:
            ours = (BATCHES.c.tag == tag, BATCHES.c.owner == owner)
            unmade = delete(BATCHES).where(*ours, BATCHES.c.state == "submitting")
            if connection.execute(unmade).rowcount:
                connection.execute(delete(WAITING).where(WAITING.c.tag == tag))

        self._database.run(write)

    def update_state(self, tag: str, state: StoredBatchState, provider_status: str) -> None:
        """Record the provider's state of a batch, unless it is collected already."""
        running_batch = update(BATCHES).where(
            BATCHES.c.tag == tag, BATCHES.c.state.in_(("running", *ENDED_STATES))
        )
        self._change(running_batch.values(state=state, provider_status=clean_text(provider_status)))

    def mark_finished(
        self, tag: str, endings: Mapping[str, int], state: StoredBatchState = "collected"
    ) -> bool:
        """Record that nothing waits in a batch any more; False where that was recorded before."""

        def write(connection: Connection, _: object) -> bool:
            row = {
                "state": state,
                "collected_at": format_moment(datetime.now(UTC)),
                "endings": json.dumps(endings),
            }
            finished = update(BATCHES).where(BATCHES.c.tag == tag, BATCHES.c.state.in_(OPEN_STATES))
            connection.execute(delete(WAITING).where(WAITING.c.tag == tag))
            return connection.execute(finished.values(row)).rowcount > 0

        return self._database.run(write)

    def record_lacking(self, tag: str, lacking: str) -> None:
        """Record what the partition of a collected batch still lacks."""
        self._change(update(BATCHES).where(BATCHES.c.tag == tag).values(lacking=lacking))

    def mark_handled(self, tags: Collection[str]) -> None:
        """Record that the partitions of collected batches are handled."""
        closed = update(BATCHES).where(BATCHES.c.tag.in_(tags), BATCHES.c.state == "collected")
        self._change(closed.values(state="closed"))

    def find_waiting_tags(self, keys: Iterable[str]) -> dict[str, str]:
        """Find the tags of the batches in which keys wait."""
        key_list = list(keys)

        def read(connection: Connection, _: object) -> dict[str, str]:
            columns = select(WAITING.c.key, WAITING.c.tag)
            queries = (
                columns.where(WAITING.c.key.in_(chunk)) for chunk in split_into_chunks(key_list)
            )
            return {row.key: row.tag for query in queries for row in connection.execute(query)}

        return self._database.run(read)

    def iterate_requests(self, tag: str) -> Iterator[WaitingRequest]:
        """Yield the requests that wait in a batch, in order of key, read a page at a time."""
        last, database = "", self._database
        columns = select(WAITING).where(WAITING.c.tag == tag).order_by(WAITING.c.key)

        def read(connection: Connection, _: object) -> list[WaitingRequest]:
            page = columns.where(WAITING.c.key > last).limit(CHUNK_SIZE)
            return [to_waiting_request(row) for row in connection.execute(page)]

        while page_rows := database.run(read):
            yield from page_rows
            last = page_rows[-1].key

    def find_requests(self, tag: str, keys: Collection[str]) -> dict[str, WaitingRequest]:
        """Find the requests of `keys`, a few hundred at most, that wait in a batch."""
        waiting_rows = select(WAITING).where(WAITING.c.tag == tag, WAITING.c.key.in_(keys))

        def read(connection: Connection, _: object) -> dict[str, WaitingRequest]:
            return {row.key: to_waiting_request(row) for row in connection.execute(waiting_rows)}

        return self._database.run(read)

    def find(self, tag: str) -> Batch | None:
        """The batch with that tag."""
        batches = self._select_batches(BATCHES.c.tag == tag)
        return batches[0] if batches else None

    def list_by_state(self, *states: StoredBatchState) -> list[Batch]:
        """List the batches in one of these states, the oldest first."""
        return self._select_batches(BATCHES.c.state.in_(states))

    def _change(self, statement: Update) -> int:
        """Carry out an update; returns the number of changed rows."""
        return self._database.run(lambda connection, _: connection.execute(statement).rowcount)

    def _select_batches(self, condition: ColumnElement[bool]) -> list[Batch]:
        rows = select(BATCHES).where(condition).order_by(BATCHES.c.submitted_at, BATCHES.c.tag)
        return self._database.run(
            lambda connection, _: [to_batch(row) for row in connection.execute(rows).mappings()]
        )


def _now(connection: Connection) -> ColumnElement[Any]:
    """The time by the clock of the PostgreSQL server, or of this machine for SQLite."""
    if connection.dialect.name == "postgresql":
        return func.extract("epoch", func.now())
    return literal(time.time())
