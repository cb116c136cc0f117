"""Shell completion of names: assets, partitions, judges, benchmarks, scenes.

Loading the code location takes seconds, so the names lie in a file beside Dagster's instance,
written anew when a models file or the source has changed since.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commands.environment import load_environment
from resources.settings.project_folder import CODE_FOLDER, NoProject, find_project_folder

_SOURCES = ("definitions.py", "assets", "generators")
_KINDS = ("assets", "judges", "models", "benchmarks", "reviews")


def complete_assets(incomplete: str) -> list[str]:
    """Assets whose name, or the part of it behind the slash, begins so."""
    return [
        name
        for name in _names()["assets"]
        if name.startswith(incomplete) or name.partition("/")[2].startswith(incomplete)
    ]


def complete_partitions(ctx: Any, incomplete: str) -> list[str]:
    """Partitions of the selected asset, or of any; behind a comma, one more."""
    before, comma, last = incomplete.rpartition(",")
    by_asset = _names()["assets"]
    # Words before an option that has no value yet stand in `args`.
    selected = [
        by_asset[name] for name in (*ctx.args, ctx.params.get("select")) if name in by_asset
    ]
    partition_keys = sorted({key for keys in selected or by_asset.values() for key in keys})
    return [f"{before}{comma}{key}" for key in partition_keys if key.startswith(last)]


def complete_judges(incomplete: str) -> list[str]:
    """Judges and metrics whose name begins so."""
    return [name for name in _names()["judges"] if name.startswith(incomplete)]


def complete_models(incomplete: str) -> list[str]:
    """Entries of models.yaml whose name begins so."""
    return [name for name in _names()["models"] if name.startswith(incomplete)]


def complete_benchmarks(incomplete: str) -> list[str]:
    """Benchmarks whose name begins so; behind a comma, one more."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _names()["benchmarks"] if name.startswith(last)]


def complete_reviews(incomplete: str) -> list[str]:
    """Assets that people review whose name, or the part of it behind the slash, begins so."""
    return [
        name
        for name in _names()["reviews"]
        if name.startswith(incomplete) or name.partition("/")[2].startswith(incomplete)
    ]


def complete_scenes(incomplete: str) -> list[str]:
    """Scenes of the domain that is typed already, else the domains."""
    from generators.domains import load_domains

    domains = load_domains()
    name, slash, _ = incomplete.partition("/")
    if not slash or name not in domains:
        return [f"{domain}/" for domain in domains if domain.startswith(name)]
    scenes = (scene.base_id for scene in domains[name].draw_module.list_scenes(0))
    return [scene for scene in scenes if scene.startswith(incomplete)]


def _names() -> dict[str, Any]:
    """`assets` with their partitions, `judges`, `models`, `benchmarks`, `reviews`.

    All are empty outside a project.
    """
    try:
        load_environment()
        version = _version()
    except NoProject:
        return {kind: {} for kind in _KINDS}
    file = Path(os.environ["DAGSTER_HOME"]) / "names.json"
    try:
        names: dict[str, Any] = json.loads(file.read_bytes())
    except (OSError, ValueError):
        names = {}
    if names.get("version") != version:
        names = {"version": version, **_list_names()}
        file.write_text(json.dumps(names))
    return names


def _list_names() -> dict[str, Any]:
    from dagster import DagsterInstance

    from assets.kit.benchmarks import list_review_forms, load_benchmarks
    from assets.kit.judge_tasks import list_judges
    from assets.kit.partitions import add_painters
    from definitions import by_key, catalog

    with DagsterInstance.get() as instance:
        add_painters(instance, catalog)
        assets = {
            key.to_user_string(): list(
                asset.partitions_def.get_partition_keys(dynamic_partitions_store=instance)
                if asset.partitions_def
                else []
            )
            for key, asset in sorted(by_key.items())
        }
    judges = [judge.name for judge in list_judges(catalog)]
    return {
        "assets": assets,
        "judges": judges,
        "models": [model.name for model in catalog.models],
        "benchmarks": [*load_benchmarks()],
        "reviews": [form.asset for form in list_review_forms()],
    }


def _version() -> str:
    """Return a version that changes with the files that the names come from.

    Those of a data root in an object store are looked at once an hour.
    """
    project = find_project_folder()
    address = os.environ.get("COUNTERFACTORY_HOME") or str(project / "data")
    hour = int(time.time() // 3600) if "://" in address else ""
    models = Path(os.environ.get("COUNTERFACTORY_MODELS") or project / "models.yaml")
    collections = Path(os.environ.get("COUNTERFACTORY_COLLECTIONS") or project / "collections.yaml")
    user_files = [models, collections, project / "taxonomy.yaml", Path(address, "discovered.yaml")]
    files = [*user_files, *_sources()]
    latest = max(file.stat().st_mtime_ns for file in files if file.exists())
    return f"{latest}{models}{collections}{hour}"


def _sources() -> Iterator[Path]:
    for name in _SOURCES:
        path = CODE_FOLDER / name
        yield from path.rglob("*.py") if path.is_dir() else [path]
