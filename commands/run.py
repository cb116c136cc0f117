"""`counterfactory run`."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import typer

from commands.environment import stores
from commands.following import (
    execute,
    limits_within,
    print_results,
    progress_bars,
    resources_in,
    spending_within,
    start_quiet_forkserver,
)
from commands.options import Budget, Config, Partitions, Select, listed, read_config

if TYPE_CHECKING:
    from sensors.materialization import Made
    from sensors.planned_runs import PlannedRun

_NAMED = 5


def run(
    select: Select,
    partitions: Partitions = None,
    config: Config = None,
    budget: Budget = None,
) -> None:
    """Materialize assets, as the UI does: one partition a run, with all checks.

    Ends with exit code 1 if a run or a blocking check fails. Example:

        counterfactory run vlmbias/answers_gpt_4_1 --partitions flags --budget 2
    """
    from dagster import DagsterInstance

    from assets.kit.benchmarks import steps_of
    from assets.kit.partitions import add_painters
    from assets.kit.plan import PlanContext
    from assets.planning import choose_all
    from assets.planning.obstacles import require_tasks_possible
    from definitions import catalog, defs
    from sensors.materialization import Materialization
    from sensors.planned_runs import planned

    given = read_config(config)
    resources = resources_in(given.pop("resources", {}))
    with DagsterInstance.get() as instance:
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        tasks = choose_all(assets, instance, select, listed(partitions), given)
        with stores(instance) as known:
            sources = PlanContext(known.home, known.images, known.ledger, known.models.calls)
            limits = limits_within(budget, resources)
            require_tasks_possible(steps_of(catalog), sources, tasks, limits)
        stages = planned(defs.resolve_asset_graph(), instance, tasks)
        spending = spending_within(instance, budget)
        done = Materialization(instance, assets, tasks, resources, spending)
        start_quiet_forkserver()
        with progress_bars() as progress:
            whole = progress.add_task("runs", total=sum(map(len, stages)))
            left = deque(stages)
            while left and not done.failures:
                for each in left.popleft():
                    execute(done, each, instance, progress)
                    progress.advance(whole)
    trials = describe_trials(done.made, given)
    print_results(done, [*trials, *done.told, *done.failures, *not_begun(left)])
    if done.failures or done.told:
        raise typer.Exit(1)


def describe_trials(made: "Iterable[Made]", config: Mapping[str, Any]) -> Iterator[str]:
    """Describe tables that a limit has made smaller, with the command that completes each."""
    from dagster import AssetKey

    from assets.kit.limits import PARTIAL

    for asset, partition, metadata in made:
        name = AssetKey.from_user_string(asset).to_python_identifier()
        fields = config.get("ops", {}).get(name, {}).get("config", {})
        if PARTIAL in metadata and "limit" in fields:
            where = f" --partitions '{partition}'" if partition else ""
            others = ", ".join(field for field in fields if field != "limit")
            remark = f" --config FILE, with {others} and no limit" if others else ""
            what = ", ".join(filter(None, [asset, partition]))
            command = f"counterfactory run {asset}{where}{remark}"
            yield f"{what}: a trial, {metadata[PARTIAL]}. All of it: {command}"


def not_begun(stages: "Iterable[Iterable[PlannedRun]]") -> Iterator[str]:
    """What is said of runs that stand after one that has failed."""
    from dagster import AssetKey

    runs = [each for stage in stages for each in stage]
    for each in runs[:_NAMED]:
        what = ", ".join(filter(None, [*map(AssetKey.to_user_string, each.assets), each.partition]))
        yield f"{what}: not begun, since what goes before it failed."
    if len(runs) > _NAMED:
        yield f"Nor were {len(runs) - _NAMED} more runs."
    if runs:
        yield "Mend what failed and run it again: what is stored is not asked for again."
