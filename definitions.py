"""The code location: everything that Dagster loads, assembled."""

import gc
import sys

# Imported objects live as long as the process; without the collector, loading takes a fifth less.
gc.disable()

from resources.execution.code_versions import read_code_versions

code_versions = read_code_versions()

import dagster as dg

import assets
from assets.front import build_front_page
from assets.kit.benchmarks import build_definitions, build_job_specs, build_planners
from assets.kit.collections import collection_asset
from assets.kit.jobs import build_jobs
from assets.kit.partitions import read_collections
from assets.planning import build_quote_job
from assets.planning.batches import build_batch_jobs
from assets.release import build_release_assets
from assets.report.links import add_report_link
from resources.execution.asset_versions import add_code_version
from resources.execution.dagster_internals import STORAGE_MODULE, prepare_forked_steps
from resources.execution.executors import build_executor, list_config_names
from resources.models.backends import list_modules
from resources.models.catalog import CatalogFiles
from resources.settings.default_resources import build_default_resources
from resources.settings.locations import find_data_root, find_models_path
from resources.storage.files import find_local_folder
from resources.user_files.edited_files import FORKED_STEPS
from sensors.batches import batches_sensor
from sensors.interrupted_runs import interrupted_runs_sensor
from sensors.judge_everything import build_judge_everything_job
from sensors.monthly_schedules import asking_again_schedules, missing_pictures_schedules
from sensors.new_painters import new_painters_sensor, select_painter_jobs
from sensors.painters import painters_sensor

PRELOADED = [FORKED_STEPS, "definitions", STORAGE_MODULE]
"""Modules of the process from which steps are forked: each step imports them."""


def repository() -> dg.RepositoryDefinition:
    """Return the repository of all definitions, once they are built."""
    return defs.get_repository_def()


data_root = find_data_root()
catalog_files = CatalogFiles(find_models_path(), data_root / "discovered.yaml")
catalog = catalog_files.load()

planners = build_planners(catalog)
"""Planners of all assets that ask models, for quotes and batches."""

collections = read_collections(catalog, find_local_folder(data_root))

resources = build_default_resources(str(data_root))
resource_types = map(type, resources.values())
shared_modules = {factory.__module__ for factory in (build_default_resources, *resource_types)}
backends = {module for model in catalog.models for module in list_modules(model)}

every_asset = [
    add_report_link(add_code_version(asset, code_versions, shared_modules, backends))
    for asset in (
        *dg.load_assets_from_package_module(assets),
        *build_definitions(catalog),
        *map(collection_asset, collections.values()),
        build_front_page(catalog, lambda: repository().assets_defs_by_key),
        *build_release_assets(catalog, lambda: repository().asset_graph),
    )
]
by_key = {
    key: asset
    for asset in every_asset
    if isinstance(asset, dg.AssetsDefinition)
    for key in asset.keys
}
jobs = build_jobs(build_job_specs(by_key), by_key)
batch_jobs = build_batch_jobs(planners, by_key, jobs.by_asset, resources)
quote_job = build_quote_job(planners, lambda: repository().assets_defs_by_key)
judge_job = build_judge_everything_job(catalog, repository)

defs: dg.Definitions = dg.Definitions(
    assets=every_asset,
    asset_checks=dg.load_asset_checks_from_package_module(assets),
    jobs=[
        quote_job,
        judge_job,
        *jobs.all,
        *batch_jobs.jobs,
    ],
    sensors=[
        batches_sensor(planners, by_key, batch_jobs),
        painters_sensor(catalog_files, by_key),
        new_painters_sensor(catalog_files, by_key, select_painter_jobs(jobs.all, by_key)),
        interrupted_runs_sensor(jobs.all, catalog_files),
    ],
    schedules=[
        *missing_pictures_schedules(catalog_files, by_key),
        *asking_again_schedules(by_key),
    ],
    resources=resources,
    # Each step is forked from a process that has loaded all this, instead of loading it again.
    executor=build_executor(lambda: list_config_names(repository(), resources), PRELOADED),
)

if FORKED_STEPS in sys.modules:
    prepare_forked_steps(repository())

gc.freeze()
gc.enable()
