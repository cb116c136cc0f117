"""Plans: the requests that assets would send now, for quotes and batches.

Every asset that asks models has a planner, which makes its requests by the same functions as the
asset does, so that a quote and the run after it are about the same requests.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
from dagster import AssetKey

from resources.calls import CallStore
from resources.models.catalog import Model
from resources.models.requests import Request
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

PlannedConfigs: TypeAlias = Mapping[tuple[AssetKey, str], Mapping[str, Any]]
"""Partitions of assets that are materialized together, with the run config of their ops."""


@dataclass(frozen=True)
class PlanContext:
    """Sources that planners read: tables, images, cached work and stored calls.

    `planned_configs` has all that is planned at once: earlier steps there may change the tables
    that a step reads. `planned_tables` are such tables, each computed once. `draft_tables` are read
    in place of stored ones: a quote that stores nothing has made them.
    """

    home: DataRoot
    images: ImageStore
    work_cache: WorkCache
    calls: CallStore
    planned_configs: PlannedConfigs = field(default_factory=dict)
    planned_tables: dict[tuple[AssetKey, str], pd.DataFrame] = field(default_factory=dict)
    draft_tables: Mapping[tuple[AssetKey, str], pd.DataFrame] = field(default_factory=dict)

    def with_planned(self, together: PlannedConfigs) -> "PlanContext":
        """The same, where this is planned at once."""
        return replace(self, planned_configs=together, planned_tables={})


class PaperSample(NamedTuple):
    """Estimated requests of a step for the paper's sample, where the plan has a smaller one.

    `description` says how much smaller, as in "6 of 2,000 concepts"; the paper's sample takes
    `request_count` requests, each at most as large as `largest_request`.
    """

    description: str
    request_count: int
    largest_request: Request


class Plan(NamedTuple):
    """Requests of one partition of an asset to one model."""

    model: Model
    requests: Iterable[Request] = ()
    """Certain requests, read once; repeated ones are sent once, stored ones not at all."""
    possible_requests: Iterable[Request] = ()
    """Upper bound of the requests that depend on missing answers, in number and size: counted and
    priced, but never sent or looked up."""
    spared_requests: Iterable[Request] = ()
    """Requests that a rule spares: its verdict is certain. Priced, but never sent."""
    missing_asset: str | None = None
    """Asset to materialize before requests can be counted; all other fields are then empty."""
    paper_sample: PaperSample | None = None
    warning: str | None = None
    """A warning that a quote adds to its numbers."""


Planner: TypeAlias = Callable[[PlanContext, str, Mapping[str, Any]], Iterator[Plan]]
"""Plans of a partition ("" for an asset without), under the run config of the asset's op."""

Planners: TypeAlias = Mapping[AssetKey, Planner]
