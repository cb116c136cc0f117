"""The named jobs of the main flows, launched from the Jobs page and by sensors."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dagster import (
    AssetKey,
    AssetsDefinition,
    AssetSelection,
    PartitionsDefinition,
    define_asset_job,
)

from resources.execution.dagster_internals import AssetJob


class Flow(NamedTuple):
    """A job of assets with the same partitions, as Dagster wants it.

    `assets` are their names; one that ends with an underscore or a slash stands for all that begin
    so.
    """

    job_name: str
    partitions: PartitionsDefinition[Any] | None
    assets: tuple[str, ...]
    description: str


class Jobs(NamedTuple):
    """The named jobs; `by_asset` for each asset the one that makes it, if there is one."""

    all: list[AssetJob]
    by_asset: Mapping[AssetKey, AssetJob]


def build_jobs(flows: Iterable[Flow], assets: Mapping[AssetKey, AssetsDefinition]) -> Jobs:
    """The jobs of those `assets` that there are; a job without any is left out."""
    jobs: list[AssetJob] = []
    by_asset: dict[AssetKey, AssetJob] = {}
    for flow in flows:
        if keys := [key for key, asset in assets.items() if is_in_flow(flow, key, asset)]:
            job = define_asset_job(
                flow.job_name,
                AssetSelection.assets(*keys),
                description=flow.description,
            )
            jobs.append(job)
            by_asset |= dict.fromkeys(keys, job)
    return Jobs(jobs, by_asset)


def is_in_flow(flow: Flow, key: AssetKey, asset: AssetsDefinition) -> bool:
    """Return whether the job of a flow materializes an asset."""
    name = key.to_user_string()
    return asset.partitions_def == flow.partitions and any(
        name.startswith(pattern) if pattern.endswith(("_", "/")) else name == pattern
        for pattern in flow.assets
    )
