"""Rows of batches and of the requests that wait in them, and their tables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

from sqlalchemy import Column, Double, Integer, Row, RowMapping, String, Table, Text

from resources.calls.sql_tables import TABLES

EndedBatchState: TypeAlias = Literal["ended", "failed", "expired", "cancelled"]
"""States of a batch that is over at the provider and not collected yet."""
StoredBatchState: TypeAlias = Literal[
    "submitting", "running", EndedBatchState, "collected", "closed"
]
"""`submitting` until its provider id is known, `collected` until its partition is handled."""
ENDED_STATES: tuple[StoredBatchState, ...] = get_args(EndedBatchState)
OPEN_STATES: tuple[StoredBatchState, ...] = ("submitting", "running", *ENDED_STATES)
"""The states of a batch in which requests wait."""

BATCHES = Table(
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
WAITING = Table(
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


def to_row(batch: Batch) -> dict[str, Any]:
    """Convert a batch to its row, without owner and lease."""
    collected_at = batch.collected_at and format_moment(batch.collected_at)
    return {name: getattr(batch, name) for name in batch.__slots__} | {
        "config": json.dumps(batch.config),
        "submitted_at": format_moment(batch.submitted_at),
        "collected_at": collected_at,
        "endings": json.dumps(batch.endings),
    }


def to_batch(row: RowMapping) -> Batch:
    """Convert a row to a batch."""
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


def to_waiting_request(row: Row[Any]) -> WaitingRequest:
    """Convert a row to a waiting request."""
    return WaitingRequest(row.key, json.loads(row.request), row.booking)


def format_moment(moment: datetime) -> str:
    """Format a time as UTC in ISO 8601, to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
