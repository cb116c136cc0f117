"""The named jobs of the benchmarks, launched from the Jobs page and by sensors."""

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


class JobSpec(NamedTuple):
    """A job of assets with the same partitions, as Dagster wants it.

    `assets` are their names; one that ends with an underscore or a slash stands for all that begin
    so. A report without partitions may follow on them, by its full name.
    """

    job_name: str
    partitions: PartitionsDefinition[Any] | None
    assets: tuple[str, ...]
    description: str


class Jobs(NamedTuple):
    """The named jobs; `by_asset` for each asset the one that makes it, if there is one."""

    all: list[AssetJob]
    by_asset: Mapping[AssetKey, AssetJob]


def build_jobs(job_specs: Iterable[JobSpec], assets: Mapping[AssetKey, AssetsDefinition]) -> Jobs:
    """The jobs of those `assets` that there are; a job without any is left out."""
    jobs: list[AssetJob] = []
    by_asset: dict[AssetKey, AssetJob] = {}
    for job_spec in job_specs:
        if keys := [key for key, asset in assets.items() if includes_asset(job_spec, key, asset)]:
            job = define_asset_job(
                job_spec.job_name,
                AssetSelection.assets(*keys),
                description=job_spec.description,
            )
            jobs.append(job)
            by_asset |= dict.fromkeys(keys, job)
    return Jobs(jobs, by_asset)


def includes_asset(job_spec: JobSpec, key: AssetKey, asset: AssetsDefinition) -> bool:
    """Return whether a job materializes an asset."""
    name = key.to_user_string()
    if asset.partitions_def != job_spec.partitions:
        return asset.partitions_def is None and name in job_spec.assets
    return any(
        name.startswith(pattern) if pattern.endswith(("_", "/")) else name == pattern
        for pattern in job_spec.assets
    )
