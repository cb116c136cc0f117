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
    """What planners read: tables, images, what was drawn, and what was answered before.

    `together` is all that is planned at once: what goes before a step there may change the tables
    that the step reads. `foreseen` are such tables, each worked out once.
    """

    home: DataRoot
    images: ImageStore
    work_cache: WorkCache
    calls: CallStore
    planned_configs: PlannedConfigs = field(default_factory=dict)
    planned_tables: dict[tuple[AssetKey, str], pd.DataFrame] = field(default_factory=dict)

    def with_planned(self, together: PlannedConfigs) -> "PlanContext":
        """The same, where this is planned at once."""
        return replace(self, planned_configs=together, planned_tables={})


class PaperSample(NamedTuple):
    """What a step would ask of the paper's sample, where what is planned is of a smaller one.

    `told` says how much smaller, as in "6 of 2,000 concepts"; it would ask as many as `number`
    requests, each at most as large as `request`.
    """

    description: str
    request_count: int
    largest_request: Request


class Plan(NamedTuple):
    """What one partition of an asset would ask of one model."""

    model: Model
    requests: Iterable[Request] = ()
    """Those that are certain, read once; repeated ones are sent once, stored ones not at all."""
    possible_requests: Iterable[Request] = ()
    """Those that depend on answers that are not there yet, at most so many and each at most so
    large: they count and are priced, but are never sent or looked up."""
    missing_asset: str | None = None
    """What has to be materialized before requests can be counted; all else is empty then."""
    paper_sample: PaperSample | None = None
    warning: str | None = None
    """A warning that a quote adds to its numbers."""


Planner: TypeAlias = Callable[[PlanContext, str, Mapping[str, Any]], Iterator[Plan]]
"""Plans of a partition ("" for an asset without), under the run config of the asset's op."""

Planners: TypeAlias = Mapping[AssetKey, Planner]
