"""Dagster's runs in process, of which tests make hundreds, without what no test looks at."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any
from unittest.mock import patch

import dagster as dg
from dagster._config.pythonic_config import config, resource
from dagster._core.definitions.job_definition import JobDefinition
from dagster._core.instance.runs.run_domain import RunDomain

from resources.execution.dagster_internals import read_migrations_once

_NOTHING = dg.GraphDefinition("nothing").to_job().get_job_index()


@contextmanager
def undescribed() -> Iterator[None]:
    """Describe no run's job and plan, with its whole config: two fifths of a small run's time.

    Nor note of a check's result which materialization it is about, for which it looks that up.
    """
    with (
        patch.object(JobDefinition, "get_job_index", lambda _: _NOTHING),
        patch.object(RunDomain, "ensure_persisted_job_snapshot", lambda *_: None),
        patch.object(dg.AssetCheckResult, "_get_target_materialization_data", lambda *_: None),
    ):
        yield


def read_once() -> None:
    """Let Dagster read once from now on what stays as it is.

    It reads its 89 migrations for each storage of each instance, the fields of a resource's class
    five times in each run, and all names of a package's modules for each code location.
    """
    read_migrations_once()
    read = config.infer_schema_from_config_class

    @cache
    def known(cls: type, omitted: frozenset[str]) -> Any:
        return read(cls, fields_to_omit=set(omitted))

    def schema(
        model_cls: type,
        description: str | None = None,
        fields_to_omit: set[str] | None = None,
        default: object = None,
    ) -> Any:
        if description is None and default is None:
            return known(model_cls, frozenset(fields_to_omit or ()))
        return read(model_cls, description, fields_to_omit, default)

    for name in ("load_assets_from_package_module", "load_asset_checks_from_package_module"):
        setattr(dg, name, _by_folders(getattr(dg, name)))
    config.infer_schema_from_config_class = schema
    resource.infer_schema_from_config_class = schema


def _by_folders(load: Callable[[ModuleType], Sequence[Any]]) -> Callable[[ModuleType], list[Any]]:
    @cache
    def loaded(package: ModuleType, _folders: tuple[str, ...]) -> Sequence[Any]:
        return load(package)

    return lambda package: [*loaded(package, tuple(package.__path__))]
