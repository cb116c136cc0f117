"""Materializing parts of the graph in tests, in process, into a folder of their own."""

import gc
import logging
import shutil
import warnings
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cache, lru_cache
from unittest.mock import Mock, patch

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

import assets
from assets.kit import previews
from assets.kit.benchmarks import load_benchmarks
from assets.kit.partitions import partition_tags
from assets.report import revision
from generators.domains import load_domain
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from tests.cheap_runs import read_once, undescribed
from tests.instances import reuse_databases, unread

reuse_databases()
read_once()

# A few pictures are shown in small by hundreds of runs.
previews._thumbnail = lru_cache(256)(previews._thumbnail)

TOPIC = "game_boards"
"""The topic that is the quickest to make; within `few_scenes`, by which it has those of `FEW`."""

FEW = {
    "game_boards/chess": ("", "-remove-row-first", "-add-column-first"),
    "game_boards/go": ("", "-remove-row-last", "-remove-column-last"),
    "game_boards/sudoku": ("-add-row-first",),
}
"""Two originals and five counterfactuals, which ask of rows, columns and lines of both kinds."""

STAND_INS = tuple(
    Model(name=name, backend="stand_in", model=name, family="stand_in", roles=("judge",))
    for name in ("prior", "pixels", "random")
)
"""The judges that there are unless a test says otherwise."""

PHOTOGRAPHED = (
    *("subjects", "paintings", "edits", "candidates", "photographs"),
    *("isolated_edits", "isolated_photographs"),
)
"""What is made of photographed topics alone, in this order."""

PER_TOPIC = (
    dg.AssetSelection.groups("vlmbias")
    - dg.AssetSelection.assets(
        *(f"vlmbias/{name}" for name in ("accuracy", "report", *PHOTOGRAPHED))
    )
    - dg.AssetSelection.from_string('key:"vlmbias/rerolled_*"')
)
"""What a run of a drawn topic makes."""

OVER_TOPICS = dg.AssetSelection.assets("vlmbias/accuracy", "vlmbias/report")


BENCHMARKS = frozenset(
    {
        *("cdh_bench", "frame", "game_rules", "illusions", "judge_sets"),
        *("mm_judge_bias", "philautia", "protobias", "vhexpansion", "vlmbias"),
    }
)
"""The benchmarks of this project, to which a user adds others."""


def of_others(names):
    """Those that a user has added."""
    return tuple(sorted(set(names) - BENCHMARKS))


def materialize(
    root,
    *names,
    topic=None,
    seed=0,
    sizes=(384,),
    models=STAND_INS,
    prompting=None,
    config=None,
    instance=None,
    group="vlmbias",
):
    """Materialize `<group>/<name>` of each name, or all, at small size; returns the result.

    `topic` is a partition of any kind. `prompting` is the run config of those of `names` that are
    answers; `config` is that of others, by name.
    """
    selection = PER_TOPIC if topic else OVER_TOPICS
    if names:
        keys = [f"{group}/{name}" for name in names]
        checks = dg.AssetSelection.checks_for_assets(*[dg.AssetKey(k.split("/")) for k in keys])
        selection = dg.AssetSelection.assets(*keys) | checks
    design = {"seed": seed, "sizes": list(sizes)}
    asked = [name for name in names if prompting and name.startswith("answers_")]
    configs = {name: {"prompting": prompting} for name in asked}
    configs |= config or {}
    ops = {f"{group}__{name.replace('/', '__')}": {"config": of} for name, of in configs.items()}
    with warnings.catch_warnings():
        # Dagster's own, while it makes a resource that is part of another one.
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        defs = _definitions(str(root), Catalog(tuple(models)), group)
        job = defs.resolve_implicit_global_asset_job_def()
        # Somebody may look at the runs of one that is stored.
        whole = instance and not instance.is_ephemeral
        cheap = nullcontext() if whole else undescribed()
        with cheap, nullcontext(instance) if whole else unread(instance) as within:
            return job.execute_in_process(
                asset_selection=sorted(selection.resolve(defs.resolve_asset_graph())),
                tags=partition_tags(topic, _partitions_def(defs, selection)) if topic else None,
                run_config={
                    "ops": ops,
                    "resources": {"design": {"config": design}},
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
                instance=within,
                raise_on_error=False,
            )


def _partitions_def(defs, selection):
    """How the assets of a selection are divided: by painter as well, if any of them is."""
    graph = defs.resolve_asset_graph()
    partitions_defs = [graph.get(key).partitions_def for key in selection.resolve(graph)]
    return max(partitions_defs, key=lambda each: hasattr(each, "partitions_defs"))


@cache
def of_modules():
    """The assets and checks that are there whatever models there are."""
    return [
        *dg.load_assets_from_package_module(assets),
        *dg.load_asset_checks_from_package_module(assets),
    ]


_MADE: dict[str, list[dg.AssetsDefinition]] = {}
_LOADED: dict[str, dg.Definitions] = {}


def defined(catalog, group):
    """The assets and checks of a benchmark, and of those whose tables it takes.

    They are made once for all roots. `group` may be one of assets that are no benchmark.
    """
    which = f"{group} {catalog}"
    if which not in _MADE:
        if len(_MADE) > 7:
            del _MADE[next(iter(_MADE))]
        made, seen, needed = {}, set(), {group}
        while needed:
            seen |= needed
            own = [each for each in of_modules() if needed & _groups(each, depends=False)]
            for name in needed & load_benchmarks().keys():
                own += load_benchmarks()[name].build_definitions(catalog)
            made |= {id(each): each for each in own}
            needed = set().union(*map(_groups, own)) - seen
        _MADE[which] = list(made.values())
    # The one that was used longest ago is the first to go.
    _MADE[which] = _MADE.pop(which)
    return _MADE[which]


def _groups(asset, depends=True):
    """The groups whose assets are defined or checked by this definition, or that it needs."""
    checked = {key.asset_key for key in asset.check_keys}
    needed = asset.dependency_keys if depends else set()
    return {key.path[0] for key in asset.keys | checked | needed}


def _definitions(root, catalog, group):
    """What a code location with those models loads of a benchmark, once for all runs of a test."""
    which = f"{root} {group} {catalog}"
    if which not in _LOADED:
        _LOADED.clear()
        _LOADED[which] = dg.Definitions(
            assets=defined(catalog, group), resources=build_default_resources(root)
        )
    return _LOADED[which]


@cache
def _settle(root):
    """Close the databases below a root, once: their logs go when garbage does."""
    gc.collect()


@contextmanager
def few_scenes():
    """Leave `TOPIC` a few of its scenes: enough where the graph is tested, and not the drawings.

    Gives the function that gives them all.
    """
    drawing = load_domain(TOPIC).draw_module
    whole, kept = drawing.list_scenes, {board + change for board in FEW for change in FEW[board]}
    drawing.list_scenes = lambda seed: [each for each in whole(seed) if each.base_id in kept]
    try:
        yield whole
    finally:
        drawing.list_scenes = whole


@contextmanager
def one_day():
    """Have all reports written on one day, as the same content at two times is to be compared."""
    day = datetime(2026, 11, 23, tzinfo=UTC)
    with patch.object(revision, "datetime", Mock(now=lambda zone: day)):
        yield


def copied(root, to):
    """A copy of a data root in which nothing is made any more."""
    _settle(root)
    return shutil.copytree(root, to)


def failure(result):
    """What the failed step or resource says, without Dagster's wrapping."""
    failed = ("STEP_FAILURE", "RESOURCE_INIT_FAILURE")
    (event,) = [event for event in result.all_events if event.event_type_value in failed]
    error = event.event_specific_data.error
    return (error.cause or error).message


def metadata(result, name, group="vlmbias"):
    """The metadata of the materialization of `<group>/<name>`, as plain values."""
    node = f"{group}__{name.replace('/', '__')}"
    (event,) = result.asset_materializations_for_node(node)
    return {key: value.value for key, value in event.metadata.items()}


def checks(result):
    """Whether each check that was evaluated passed, by name."""
    return {check.check_name: check.passed for check in result.get_asset_check_evaluations()}


def warned(instance):
    """What the runs of an instance logged as warnings, or worse."""
    runs = [run.run_id for run in instance.get_runs()]
    entries = [entry for run_id in runs for entry in instance.all_logs(run_id)]
    return "\n".join(entry.user_message for entry in entries if entry.level >= logging.WARNING)


def materialized(result):
    """The assets that were materialized, without the group's name."""
    events = result.get_asset_materialization_events()
    return {"/".join(event.asset_key.path[1:]) for event in events}


def table(root, name, topic=TOPIC, group="vlmbias"):
    """Where the table of `<group>/<name>` of a topic lies."""
    return root / group / name / f"{topic}.parquet"


def image(root, digest):
    """Where the image of that sha256 lies."""
    return root / "images" / digest[:2] / f"{digest}.png"


def rewrite(path, change):
    """Edit a stored table by hand: `change` gets and gives a list of rows."""
    rows = pq.read_table(path)
    pq.write_table(pa.Table.from_pylist(change(rows.to_pylist()), schema=rows.schema), path)
