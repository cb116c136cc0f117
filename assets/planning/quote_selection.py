"""The scope of a quote: a selection of assets, partitions, and the run config of their ops."""

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from logging import getLogger
from typing import Any, NamedTuple, TypeAlias

from dagster import (
    AssetKey,
    AssetsDefinition,
    AssetSelection,
    BetaWarning,
    DagsterError,
    DagsterInstance,
)
from pydantic import Field, field_validator

from assets.kit.plan import PlannedConfigs, Planners
from generators.name_suggestions import suggest_names
from resources.execution.dagster_internals import find_config_class
from resources.settings.run_config import BadConfig, Config

_LOG = getLogger(__name__)
_NAME = re.compile(r"[\w/]+")
"""Pattern of a plain name, which uses no selection syntax."""
_UNQUOTED = ("resources", "execution", "loggers")
"""Parts of a run config that a quote ignores, beside `ops`."""

AssetsByKey: TypeAlias = Mapping[AssetKey, AssetsDefinition]
"""The assets that there are, by key."""


class SelectionConfig(Config):
    """Selection of assets and their partitions, with a run config."""

    select: str = Field(
        description='Assets in Dagster\'s selection syntax, such as key:"vlmbias/answers_gpt_4_1".'
    )
    partitions: list[str] = Field(
        default=[], description="Partitions to quote. Default: all partitions of the assets."
    )
    config: dict[str, Any] = Field(
        default={},
        description="Run config of the assets' ops as in the launchpad: {ops: {…: {config: {…}}}}.",
    )

    @field_validator("config")
    @classmethod
    def _check_config(cls, config: dict[str, Any]) -> dict[str, Any]:
        """Refuse resources: a job has its own, beside its ops."""
        _require_ops_alone(config)
        return config


class CannotQuote(ValueError):
    """Selection or config that cannot be quoted; the message names it and what to write instead."""


class Task(NamedTuple):
    """A partition of an asset ("" for an asset without), with the run config of the asset's op."""

    asset: AssetKey
    partition: str
    config: Mapping[str, Any]


class QuoteSelection(NamedTuple):
    """Tasks to quote; `silent_assets` are the selected assets that ask no model.

    `planned_configs` has their partitions: they may change what the `tasks` after them ask.
    """

    tasks: list[Task]
    silent_assets: list[AssetKey]
    planned_configs: PlannedConfigs


def to_planned_configs(tasks: Iterable[Task]) -> PlannedConfigs:
    """The tasks as planners look them up."""
    return {(task.asset, task.partition): task.config for task in tasks}


def select_quoted_tasks(
    assets: AssetsByKey,
    planners: Planners,
    instance: DagsterInstance,
    select: str,
    partitions: Sequence[str] = (),
    config: Mapping[str, Any] | None = None,
) -> QuoteSelection:
    """The partitions of the selected assets that ask models: those named, or all that they have.

    `select` is written as in Dagster's asset selection, `config` as in its launchpad: its resources
    and execution are ignored, and a warning names them. Raises `CannotQuote` for a selection that
    cannot be read or selects nothing, for a partition that no selected asset has, and for config of
    an op that is not selected or does not take it.
    """
    tasks = _tasks(assets, instance, select, partitions, _drop_unquoted(config or {}))
    asking = {key: asset_tasks for key, asset_tasks in tasks.items() if key in planners}
    silent = {key: asset_tasks for key, asset_tasks in tasks.items() if key not in planners}
    _require_partitions(partitions, asking or tasks, must_ask=bool(asking))
    return QuoteSelection(
        _select_tasks(asking, partitions),
        list(silent),
        to_planned_configs(_select_tasks(silent, partitions)),
    )


def select_all_tasks(
    assets: AssetsByKey,
    instance: DagsterInstance,
    select: str,
    partitions: Sequence[str] = (),
    config: Mapping[str, Any] | None = None,
) -> list[Task]:
    """Select as `select_quoted_tasks`, including the assets that ask no model."""
    tasks = _tasks(assets, instance, select, partitions, config or {})
    _require_partitions(partitions, tasks)
    return _select_tasks(tasks, partitions)


def _require_partitions(
    partitions: Sequence[str], tasks: Mapping[AssetKey, Sequence[Task]], *, must_ask: bool = False
) -> None:
    """Raise `CannotQuote` for a partition that no asset of `tasks` has."""
    which = "that asks models " if must_ask else ""
    everywhere = {task.partition for asset_tasks in tasks.values() for task in asset_tasks} - {""}
    for name in partitions:
        if name not in everywhere:
            among = suggest_names(name, sorted(everywhere))
            raise CannotQuote(f"No selected asset {which}has a partition {name!r}{among}.")


def _select_tasks(
    tasks: Mapping[AssetKey, Sequence[Task]], partitions: Sequence[str]
) -> list[Task]:
    """The tasks of those partitions, all without any; an asset without partitions has one."""
    return [
        task
        for asset_tasks in tasks.values()
        for task in asset_tasks
        if not (task.partition and partitions) or task.partition in partitions
    ]


def _tasks(
    assets: AssetsByKey,
    instance: DagsterInstance,
    select: str,
    partitions: Sequence[str],
    config: Mapping[str, Any],
) -> dict[AssetKey, list[Task]]:
    """Build a task for each partition of each selected asset."""
    chosen = {key: assets[key] for key in select_assets(assets, select)}
    configs = _configs(chosen, config)
    tasks_by_asset = {}
    for key, asset in chosen.items():
        partitions_def = asset.partitions_def
        names = (
            partitions_def.get_partition_keys(dynamic_partitions_store=instance)
            if partitions_def
            else [""]
        )
        tasks_by_asset[key] = [Task(key, name, configs.get(key, {})) for name in names]
    if not any(tasks_by_asset.values()):
        named = ", ".join(key.to_user_string() for key in tasks_by_asset)
        raise CannotQuote(
            f"{named}: no partition is there yet, for these are of painters and collections. Add "
            "a painter to models.yaml, or a collection to collections.yaml."
        )
    return tasks_by_asset


def select_assets(assets: AssetsByKey, select: str) -> list[AssetKey]:
    """List the assets of a selection by name; raises `CannotQuote` if it selects none."""
    if _NAME.fullmatch(select) and AssetKey.from_user_string(select) not in assets:
        names = sorted(key.to_user_string() for key in assets)
        raise CannotQuote(
            f"There is no asset "
            f"{select!r}{suggest_names(select, names)}.{_suggest_model_assets(select, names)}"
        )
    example = "Write it as in 'key:\"vlmbias/answers_gpt_4_1\"', 'kind:\"judge\"' or '*'."
    try:
        with warnings.catch_warnings():
            # Dagster's own, of a parameter that it passes to itself for "*".
            warnings.simplefilter("ignore", BetaWarning)
            keys = AssetSelection.from_string(select).resolve(assets.values())
    except DagsterError as error:
        (why, *_) = str(error).strip().splitlines()
        if why.startswith("AssetKey(s)"):
            why = "it names an asset that is not there."
        raise CannotQuote(f"The selection {select!r} cannot be used: {why} {example}") from None
    if not keys:
        raise CannotQuote(f"The selection {select!r} selects no asset. {example}")
    return sorted(keys, key=AssetKey.to_user_string)


def _suggest_model_assets(name: str, names: Iterable[str]) -> str:
    """A remedy where a name begins as those of several models' assets, as in `…/answers_gpt`."""
    group, _, last = name.partition("/")
    step, divided, _ = last.partition("_")
    alike = [candidate for candidate in names if candidate.startswith(f"{group}/{step}_")]
    if not divided or len(alike) < 2:
        return ""
    return " If it is named by a model, add the model to models.yaml first."


def _drop_unquoted(config: Mapping[str, Any]) -> Mapping[str, Any]:
    unquoted = [name for name in config if name in _UNQUOTED]
    if unquoted:
        _LOG.warning("Not used from the config, as only `ops` counts: %s.", ", ".join(unquoted))
    return {name: part for name, part in config.items() if name not in unquoted}


def _require_ops_alone(config: Mapping[str, Any]) -> None:
    if not isinstance(config.get("ops", {}), Mapping) or set(config) - {"ops"}:
        raise CannotQuote(
            'The config has to be that of ops alone, as in {"ops": {"vlmbias__answers_gpt_4_1": '
            '{"config": {"prompting": ["debiased"]}}}}.'
        )


def _configs(assets: AssetsByKey, config: Mapping[str, Any]) -> dict[AssetKey, Mapping[str, Any]]:
    """Split a run config into the config of each asset's op."""
    _require_ops_alone(config)
    keys = {key.to_python_identifier(): key for key in assets}
    configs = {}
    for name, op_config in config.get("ops", {}).items():
        if name not in keys:
            among = suggest_names(name, keys)
            raise CannotQuote(f"The config names the op {name!r}, which is not selected{among}.")
        if not isinstance(op_config, Mapping) or not isinstance(
            op_config.get("config", {}), Mapping
        ):
            raise CannotQuote(f'The config of {name} has to be as in {{"config": {{…}}}}.')
        configs[keys[name]] = op_config.get("config", {})
        fields = getattr(assets[keys[name]].op.config_schema.config_type, "fields", {})
        for field in configs[keys[name]]:
            if field not in fields:
                among = suggest_names(field, fields)
                raise CannotQuote(f"The op {name} takes no config {field!r}{among}.")
        _require_taken(name, assets[keys[name]], configs[keys[name]])
    return configs


def _require_taken(name: str, asset: AssetsDefinition, config: Mapping[str, Any]) -> None:
    """Raise `CannotQuote` where the config of an op has a value that it does not take."""
    config_class = find_config_class(asset)
    if config_class is not None and issubclass(config_class, Config):
        try:
            config_class(**config)
        except BadConfig as why:
            raise CannotQuote(f"The config of {name}: {why}") from None
