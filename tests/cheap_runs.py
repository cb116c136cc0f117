"""Dagster's runs in process, of which tests make hundreds, without what no test looks at."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import dagster as dg
from alembic.script import ScriptDirectory
from dagster._config.pythonic_config import config, resource
from dagster._core.definitions.job_definition import JobDefinition
from dagster._core.instance.runs.run_domain import RunDomain

_NOTHING = dg.GraphDefinition("nothing").to_job().get_job_index()


@contextmanager
def undescribed() -> Iterator[None]:
    """Describe no run's job and plan, with its whole config: two fifths of a small run's time."""
    with (
        patch.object(JobDefinition, "get_job_index", lambda _: _NOTHING),
        patch.object(RunDomain, "ensure_persisted_job_snapshot", lambda *_: None),
    ):
        yield


def read_once() -> None:
    """Let Dagster read once from now on what stays as it is: migrations, and classes of config.

    It reads its 89 migrations for each storage of each instance, and the fields of a resource's
    class five times in each run.
    """
    ScriptDirectory.from_config = cache(ScriptDirectory.from_config)
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

    config.infer_schema_from_config_class = schema
    resource.infer_schema_from_config_class = schema
