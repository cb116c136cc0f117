"""Code versions of Dagster's assets, by the code that each may run."""

from collections.abc import Collection
from typing import Any

from dagster import AssetsDefinition

from resources.execution.code_versions import CodeVersions
from resources.execution.dagster_internals import find_code_modules

MODELS = "models"
"""Name of the resource that sends requests to models."""


def add_code_version(
    asset: Any, code_versions: CodeVersions, shared: Collection[str], backends: Collection[str]
) -> Any:
    """Append to an asset's own version a digest of all code that it may run.

    `shared` are the modules that every asset uses, as those of resources; `backends` those of the
    catalog's models, which count for assets that may ask one: a new entry changes no other. Returns
    source assets unchanged.
    """
    if not isinstance(asset, AssetsDefinition):
        return asset
    modules = {*shared, *find_code_modules(asset)}
    for group in asset.group_names_by_key.values():
        modules.update(code_versions.list_modules(f"assets.{group}"))
    asks_models = MODELS in asset.required_resource_keys
    digest = code_versions.digest(modules, backends if asks_models else ())
    return asset.map_asset_specs(
        lambda spec: spec.replace_attributes(code_version=f"{spec.code_version} {digest}")
    )
