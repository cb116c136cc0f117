"""The resources of the code location, by the names that assets ask for."""

from os import environ
from pathlib import Path
from typing import Any

from dagster import EnvVar

from resources.calls import CallStore
from resources.calls.database_url import build_sqlite_url
from resources.models.client import ModelClient
from resources.settings.budget import Budget
from resources.settings.image_design import ImageDesign
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.parquet_tables import ParquetTables
from resources.storage.work_cache import WorkCache


def build_default_resources(root: str) -> dict[str, Any]:
    """Build every resource; tables, reports and the record of finished work lie below `root`.

    So do images, unless COUNTERFACTORY_IMAGES is set to another folder or an address that fsspec
    knows, and calls, unless COUNTERFACTORY_CALLS is set to another database. The record of finished
    work is in that database as well where it is on a PostgreSQL server.
    """
    images = ImageStore(root=environ.get("COUNTERFACTORY_IMAGES") or root)
    # Named, not read, where it is set: no page of Dagster then shows a password in it.
    has_own_database = bool(environ.get("COUNTERFACTORY_CALLS"))
    default_url = build_sqlite_url(Path(root, "calls.sqlite"))
    url = EnvVar("COUNTERFACTORY_CALLS") if has_own_database else default_url
    calls = CallStore(url=url)
    return {
        "io_manager": ParquetTables(root=root),
        "home": DataRoot(root=root),
        "images": images,
        "models": ModelClient(calls=calls, images=images),
        "work_cache": WorkCache(root=root, calls_url=url),
        "design": ImageDesign(),
        "budget": Budget.from_environment(environ),
    }
