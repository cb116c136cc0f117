"""The asset `release/<benchmark>`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import pandas as pd
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    DataVersion,
    MaterializeResult,
    MetadataValue,
    asset,
)
from pydantic import Field

from assets.kit.benchmarks import Benchmark, load_benchmarks
from assets.kit.previews import markdown_table
from assets.kit.table_asset import OWNERS
from assets.release.checksums import CHECKSUMS, hash_file
from assets.release.contents import Release, ReleaseSources
from assets.release.folder import write_release
from assets.release.licences import DEFAULT_LICENCE
from assets.release.options import ReleaseOptions
from resources.execution.dagster_internals import AssetGraph
from resources.faults import UnwritableStore
from resources.models.catalog import Catalog
from resources.models.client import ModelClient
from resources.settings.run_config import Config
from resources.storage.atomic_writes import is_remote, to_local_path
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.leftovers import RELEASES
from resources.storage.work_cache import WorkCache

GROUP = RELEASES


class ReleaseConfig(Config):
    """The run config of a release."""

    partitions: list[str] = Field(
        default=[], description="Partitions, or parts of them, to release. Default: all made."
    )
    licence: str = Field(
        default=DEFAULT_LICENCE,
        min_length=1,
        description="Licence of what code drew and wrote, by its SPDX name.",
    )
    webdataset: bool = Field(
        default=False, description="Write WebDataset shards beside the Parquet files."
    )
    to: str = Field(
        default="",
        description=(
            "New or empty folder of this machine to write to. Default: release/<benchmark> below "
            "the data root, which is replaced."
        ),
    )


def build_release_assets(
    catalog: Catalog, graph: Callable[[], AssetGraph]
) -> Iterator[AssetsDefinition]:
    """Build the asset `release/<benchmark>` of each benchmark that declares tables to release."""
    for benchmark in load_benchmarks().values():
        if benchmark.release_tables:
            yield _build_release_asset(benchmark, catalog, graph)


def _build_release_asset(
    benchmark: Benchmark, catalog: Catalog, graph: Callable[[], AssetGraph]
) -> AssetsDefinition:
    source_keys = {key for table in benchmark.release_tables for key in table.sources.values()}

    @asset(
        key=AssetKey([GROUP, benchmark.name]),
        group_name=GROUP,
        owners=OWNERS,
        kinds={"python", "parquet"},
        deps=[AssetDep(key) for key in sorted(source_keys)],
        description=f"{benchmark.title} in one folder, with its pictures, for others to load. "
        "Refused while it holds rows of stand-ins, unproved labels or pictures without a licence.",
        code_version="1",
    )
    def release(
        context: AssetExecutionContext,
        config: ReleaseConfig,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
        models: ModelClient,
    ) -> MaterializeResult[None]:
        started = perf_counter()
        sources = ReleaseSources(
            home=home,
            images=images,
            work_cache=work_cache,
            calls=models.calls,
            catalog=catalog,
            instance=context.instance,
            graph=graph(),
        )
        folder = Path(config.to) if config.to else _find_folder(home, benchmark.name)
        options = ReleaseOptions(
            partitions=config.partitions,
            licence=config.licence,
            has_webdataset=config.webdataset,
        )
        released = write_release(folder, benchmark, sources, options, replace=not config.to)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        return MaterializeResult(
            data_version=DataVersion(hash_file(folder / CHECKSUMS)),
            metadata={
                "path": MetadataValue.path(str(folder)),
                "contents": _tabulate(released),
                "rows": sum(table.rows for table in released.tables),
                "megabytes": round(size / 1e6, 1),
                "partitions": ", ".join(released.partitions),
                "results": [judge.judge.name for judge in released.results.judges],
                "no results": [*released.results.omissions],
                "seconds": round(perf_counter() - started, 2),
            },
        )

    return release


def _find_folder(home: DataRoot, name: str) -> Path:
    folder = home.path(GROUP, name)
    if is_remote(folder):
        raise UnwritableStore(
            f"{folder}: a release is written to a folder of this machine. Set `to` in its config."
        )
    return to_local_path(folder)


def _tabulate(release: Release) -> MetadataValue:
    rows = [
        {"config": table.declaration.config, "split": split.name, "rows": split.rows}
        for table in release.tables
        for split in table.splits
    ]
    return markdown_table(pd.DataFrame(rows))
