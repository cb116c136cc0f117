"""`counterfactory run`."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import typer

from commands.environment import build_plan_context, open_stores
from commands.options import Budget, Config, Partitions, Select, read_config, split_list
from commands.run_progress import Extent, ProgressDisplay
from commands.runs import (
    load_limits,
    load_shared_budget,
    print_results,
    read_resources,
    start_quiet_forkserver,
)

if TYPE_CHECKING:
    from sensors.run_launcher import MaterializedPartition
    from sensors.run_plan import PlannedRun

_MAX_LISTED = 5


def run(
    select: Select,
    partitions: Partitions = None,
    config: Config = None,
    budget: Budget = None,
) -> None:
    """Materialize assets, as the UI does: one partition per run, with all checks.

    Ends with exit code 1 if a run or a blocking check fails. Example:

        counterfactory run vlmbias/answers_gpt_4_1 --partitions flags --budget 2
    """
    from dagster import DagsterInstance

    from assets.kit.benchmarks import build_steps
    from assets.kit.partitions import add_painters
    from assets.planning import select_all_tasks
    from assets.planning.obstacles import require_tasks_possible
    from definitions import catalog, defs
    from sensors.run_launcher import RunLauncher
    from sensors.run_plan import plan_runs

    run_config = read_config(config)
    resources = read_resources(run_config.pop("resources", {}))
    with DagsterInstance.get() as instance:
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        tasks = select_all_tasks(assets, instance, select, split_list(partitions), run_config)
        with open_stores(instance) as stores:
            sources = build_plan_context(stores)
            limits = load_limits(budget, resources)
            require_tasks_possible(build_steps(catalog), sources, tasks, limits)
        stages = plan_runs(defs.resolve_asset_graph(), instance, tasks)
        spending = load_shared_budget(instance, budget)
        done = RunLauncher(instance, assets, tasks, resources, spending)
        start_quiet_forkserver()
        extent = Extent(runs=sum(map(len, stages)), budget_usd=budget)
        with ProgressDisplay(instance, done, extent) as progress:
            waiting_stages = deque(stages)
            while waiting_stages and not done.failures:
                for planned in waiting_stages.popleft():
                    progress.execute(planned)
    trials = describe_trials(done.materialized, run_config)
    print_results(
        done, [*trials, *done.failed_checks, *done.failures, *describe_unstarted(waiting_stages)]
    )
    if done.failures or done.failed_checks:
        raise typer.Exit(1)


def describe_trials(
    materialized: "Iterable[MaterializedPartition]", config: Mapping[str, Any]
) -> Iterator[str]:
    """Describe tables that a limit has made smaller, with the command that completes each."""
    from dagster import AssetKey

    from assets.kit.limits import PARTIAL

    for asset, partition, metadata in materialized:
        name = AssetKey.from_user_string(asset).to_python_identifier()
        fields = config.get("ops", {}).get(name, {}).get("config", {})
        if PARTIAL in metadata and "limit" in fields:
            partition_option = f" --partitions '{partition}'" if partition else ""
            others = ", ".join(field for field in fields if field != "limit")
            remark = f" --config FILE, with {others} and no limit" if others else ""
            table_name = ", ".join(filter(None, [asset, partition]))
            command = f"counterfactory run {asset}{partition_option}{remark}"
            yield f"{table_name}: a trial, {metadata[PARTIAL]}. All of it: {command}"


def describe_unstarted(stages: "Iterable[Iterable[PlannedRun]]") -> Iterator[str]:
    """Describe the runs that did not begin because an earlier one failed."""
    from dagster import AssetKey

    runs = [run for stage in stages for run in stage]
    for run in runs[:_MAX_LISTED]:
        run_name = ", ".join(
            filter(None, [*map(AssetKey.to_user_string, run.assets), run.partition])
        )
        yield f"{run_name}: not begun, since what goes before it failed."
    if len(runs) > _MAX_LISTED:
        yield f"Nor were {len(runs) - _MAX_LISTED} more runs."
    if runs:
        yield "Mend what failed and run it again: what is stored is not asked for again."
