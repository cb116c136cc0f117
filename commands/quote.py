"""`counterfactory quote`."""

import typer

from commands.environment import build_plan_context, open_stores
from commands.options import Config, Partitions, Select, read_config, split_list


def quote(select: Select = "*", partitions: Partitions = None, config: Config = None) -> None:
    """Say what materializing assets would ask of models now, and what it would cost.

    Sends nothing. Example:

        counterfactory quote 'kind:"judge"' --partitions flags,game_boards
    """
    from dagster import DagsterInstance

    from assets.kit.partitions import add_painters
    from assets.planning import format_text, select_quoted_tasks
    from assets.planning import quote_tasks as quoted
    from definitions import catalog, defs, planners

    run_config = read_config(config)
    with DagsterInstance.get() as instance, open_stores(instance) as stores:
        # As a sensor does while Dagster runs: what is named may be there since a minute ago.
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        chosen = select_quoted_tasks(
            assets, planners, instance, select, split_list(partitions), run_config
        )
        context = build_plan_context(stores).with_planned(chosen.planned_configs)
        typer.echo(format_text(quoted(planners, context, chosen.tasks), chosen.silent_assets))
