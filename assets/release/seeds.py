"""Seeds of a release, and the commands that make an equivalent one with another seed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml
from dagster import AssetKey, DagsterRun, TableSchema

from assets.release.contents import ReleaseSources
from assets.release.parts import AssetPart, list_materialized_parts, list_partitions
from resources.execution.dagster_internals import find_config_class

_SEED, _DESIGN = "seed", "design"
_PLACEHOLDER = "SEED"


def find_seeds(sources: ReleaseSources, parts: Iterable[AssetPart]) -> list[int]:
    """Find the seeds in the column `seed` of the assets' tables, ascending."""
    seeds = set[int]()
    for key, partition in parts:
        schema = sources.graph.get(key).metadata.get("dagster/column_schema")
        if isinstance(schema, TableSchema) and any(c.name == _SEED for c in schema.columns):
            table = sources.home.table(key, partition, [_SEED])
            seeds.update(map(int, table[_SEED].dropna()))
    return sorted(seeds)


def build_fresh_seed_commands(
    sources: ReleaseSources, benchmark: str, parts: Sequence[AssetPart], chosen: Sequence[str]
) -> list[str]:
    """Build shell lines that make all tables anew in another data root, and release them.

    The assets run as in their latest runs, but for the seed; without one that takes a seed, there
    are no lines.
    """
    keys = {key for key, _ in parts}
    keys |= {parent for key in keys for parent in sources.graph.get_ancestor_asset_keys(key)}
    ordered = [key for key in sources.graph.toposorted_asset_keys if key in keys]
    materialized = [
        part for key in ordered for part in list_materialized_parts(sources, key, chosen)
    ]
    config = _build_config(sources, materialized)
    lines = yaml.safe_dump(config, sort_keys=True, default_flow_style=None, width=10_000)
    if _PLACEHOLDER not in lines:
        return []
    names = dict.fromkeys(f'key:"{key.to_user_string()}"' for key, _ in materialized)
    partitions = _format_partitions(list_partitions(materialized))
    return [
        f"{_PLACEHOLDER}=$RANDOM",
        f"export COUNTERFACTORY_HOME=$PWD/{benchmark}-$SEED-data",
        f"cat > seed.yaml <<END\n{lines.replace(_PLACEHOLDER, f'${_PLACEHOLDER}')}END",
        f"counterfactory run '{' or '.join(names)}'{partitions} --config seed.yaml",
        f"counterfactory release {benchmark} --to {benchmark}-$SEED{_format_partitions(chosen)}",
    ]


def _build_config(sources: ReleaseSources, parts: Sequence[AssetPart]) -> dict[str, Any]:
    """Build the config of the parts' latest runs, with a placeholder for each seed."""
    ops, design = dict[str, Any](), dict[str, Any]()
    for key in dict.fromkeys(key for key, _ in parts):
        asset, run_config = sources.graph.get(key).assets_def, _find_run_config(sources, key)
        name = key.to_python_identifier()
        op_config = dict(run_config.get("ops", {}).get(name, {}).get("config", {}))
        config_class = find_config_class(asset)
        if config_class is not None and _SEED in config_class.model_fields:
            op_config[_SEED] = _PLACEHOLDER
        if op_config:
            ops[name] = {"config": op_config}
        if _DESIGN in asset.required_resource_keys:
            stored = run_config.get("resources", {}).get(_DESIGN, {}).get("config", {})
            design |= {**stored, _SEED: _PLACEHOLDER}
    resources = {_DESIGN: {"config": design}} if design else {}
    sections: Mapping[str, Any] = {"ops": ops, "resources": resources}
    return {name: section for name, section in sections.items() if section}


def _find_run_config(sources: ReleaseSources, key: AssetKey) -> Mapping[str, Any]:
    event = sources.instance.get_latest_materialization_event(key)
    run: DagsterRun | None = event and sources.instance.get_run_by_id(event.run_id)
    return run.run_config if run else {}


def _format_partitions(partitions: Sequence[str]) -> str:
    return f" --partitions '{','.join(partitions)}'" if partitions else ""
