"""The code location: everything that Dagster loads, assembled."""

import gc
import os
from pathlib import Path
from typing import Any

# What is imported stays: looking for garbage in it again and again takes a fifth of the time.
gc.disable()

from resources.execution.code_versions import CodeVersions

code_versions = CodeVersions()

import dagster as dg

import assets
from assets.front import build_front_page
from assets.kit.benchmarks import build_definitions, build_flows, build_planners
from assets.kit.collections import collection_asset
from assets.kit.jobs import build_jobs
from assets.kit.partitions import read_collections
from assets.planning import quote_job
from assets.planning.batches import build_batch_jobs
from resources.calls import CallStore
from resources.calls.database_url import build_sqlite_url
from resources.execution.dagster_internals import STORAGE_MODULE, find_code_modules
from resources.execution.executors import build_executor
from resources.models.backends import list_modules
from resources.models.catalog import CatalogFiles
from resources.models.client import ModelClient
from resources.settings.budget import Budget
from resources.settings.image_design import ImageDesign
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.parquet_tables import ParquetTables
from resources.storage.work_cache import WorkCache
from resources.user_files.edited_files import FORKED_STEPS
from sensors.batches import batches_sensor
from sensors.interrupted_runs import interrupted_runs_sensor
from sensors.judge_everything import build_judge_everything_job
from sensors.monthly_schedules import missing_pictures_schedules
from sensors.new_painters import new_painters_sensor, select_painter_jobs
from sensors.painters import painters_sensor

PRELOADED = [FORKED_STEPS, "definitions", STORAGE_MODULE]
"""Modules of the process from which steps are forked: each step imports them."""


def resources_at(root: str) -> dict[str, Any]:
    """Build every resource; tables, reports and the ledger lie below `root`.

    So do images, unless COUNTERFACTORY_IMAGES is set to another folder or an address that fsspec
    knows, and calls, unless COUNTERFACTORY_CALLS is set to another database.
    """
    images = ImageStore(root=os.environ.get("COUNTERFACTORY_IMAGES") or root)
    # Named, not read, where it is set: no page of Dagster then shows a password in it.
    elsewhere = bool(os.environ.get("COUNTERFACTORY_CALLS"))
    url = (
        dg.EnvVar("COUNTERFACTORY_CALLS")
        if elsewhere
        else build_sqlite_url(Path(root, "calls.sqlite"))
    )
    calls = CallStore(url=url)
    return {
        "io_manager": ParquetTables(root=root),
        "home": DataRoot(root=root),
        "images": images,
        "models": ModelClient(calls=calls, images=images),
        "ledger": WorkCache(root=root),
        "design": ImageDesign(),
        "budget": Budget.from_environment(os.environ),
    }


def data_root() -> str:
    """COUNTERFACTORY_HOME, or the folder `data` beside this file; always absolute."""
    home = os.environ.get("COUNTERFACTORY_HOME") or Path(__file__).parent / "data"
    if "://" in str(home):
        raise ValueError(
            f"COUNTERFACTORY_HOME is {home}, which is not a folder of this machine. Set it to one: "
            "what was drawn and measured is remembered in a database that needs a local disk."
        )
    folder = Path(home).expanduser()
    if folder.is_symlink() and not folder.exists():
        raise ValueError(
            f"COUNTERFACTORY_HOME is {folder}, a link to {folder.readlink()}, which is not there. "
            "Mount or restore it: the answers that were paid for lie in it."
        )
    return str(folder.resolve())


def models_path() -> Path:
    """COUNTERFACTORY_MODELS, or models.yaml beside this file."""
    return Path(os.environ.get("COUNTERFACTORY_MODELS") or Path(__file__).parent / "models.yaml")


catalog_files = CatalogFiles(models_path(), Path(data_root()) / "discovered.yaml")
catalog = catalog_files.load()

planners = build_planners(catalog)
"""Planners of all assets that ask models, for quotes and batches."""

collections = read_collections(catalog, Path(data_root()))

resources = resources_at(data_root())
resource_modules = {type(resource).__module__ for resource in resources.values()}
backends = {module for model in catalog.models for module in list_modules(model)}


def add_code_version(asset: Any) -> Any:
    """Give an asset the version of all code that it may run, beside its own."""
    if not isinstance(asset, dg.AssetsDefinition):
        return asset
    modules = {*resource_modules, *find_code_modules(asset)}
    for group in asset.group_names_by_key.values():
        modules.update(code_versions.list_modules(f"assets.{group}"))
    digest = code_versions.digest(modules, backends)
    return asset.map_asset_specs(
        lambda spec: spec.replace_attributes(code_version=f"{spec.code_version} {digest}")
    )


every_asset = [
    add_code_version(asset)
    for asset in (
        *dg.load_assets_from_package_module(assets),
        *build_definitions(catalog),
        *map(collection_asset, collections.values()),
        build_front_page(catalog, lambda: defs.get_repository_def().assets_defs_by_key),
    )
]
by_key = {
    key: asset
    for asset in every_asset
    if isinstance(asset, dg.AssetsDefinition)
    for key in asset.keys
}
named = build_jobs(build_flows(by_key), by_key)
batches = build_batch_jobs(planners, by_key, named.by_asset, resources)


def repository() -> dg.RepositoryDefinition:
    """Return the repository of all definitions, once they are built."""
    return defs.get_repository_def()


def list_config_names() -> dict[str, set[str]]:
    """List the names that each section of a run's config may have."""
    executable = (
        asset for asset in repository().assets_defs_by_key.values() if asset.is_executable
    )
    return {"ops": {asset.node_def.name for asset in executable}, "resources": set(resources)}


quotes = quote_job(planners, lambda: repository().assets_defs_by_key)
judging = build_judge_everything_job(catalog, repository)

defs: dg.Definitions = dg.Definitions(
    assets=every_asset,
    asset_checks=dg.load_asset_checks_from_package_module(assets),
    jobs=[
        quotes,
        judging,
        *named.all,
        *batches.jobs,
    ],
    sensors=[
        batches_sensor(planners, by_key, batches),
        painters_sensor(catalog_files, by_key),
        new_painters_sensor(catalog_files, by_key, select_painter_jobs(named.all, by_key)),
        interrupted_runs_sensor(named.all, catalog_files),
    ],
    schedules=missing_pictures_schedules(catalog_files, by_key),
    resources=resources,
    # Each step is forked from a process that has loaded all this, instead of loading it again.
    executor=build_executor(list_config_names).configured(
        {"start_method": {"forkserver": {"preload_modules": PRELOADED}}}
    ),
)

gc.freeze()
gc.enable()
