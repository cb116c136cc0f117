"""`counterfactory quote`."""

import typer

from commands.environment import stores
from commands.options import Config, Partitions, Select, listed, read_config


def quote(select: Select = "*", partitions: Partitions = None, config: Config = None) -> None:
    """Say what materializing assets would ask of models now, and what it would cost.

    Sends nothing. Example:

        counterfactory quote 'kind:"judge"' --partitions flags,game_boards
    """
    from dagster import DagsterInstance

    from assets.kit.partitions import add_painters
    from assets.kit.plan import PlanContext
    from assets.planning import choose, text
    from assets.planning import quote as quoted
    from definitions import catalog, defs, planners

    given = read_config(config)
    with DagsterInstance.get() as instance, stores(instance) as known:
        # As a sensor does while Dagster runs: what is named may be there since a minute ago.
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        chosen = choose(assets, planners, instance, select, listed(partitions), given)
        context = PlanContext(
            known.home, known.images, known.ledger, known.models.calls, chosen.besides
        )
        typer.echo(text(quoted(planners, context, chosen.tasks), chosen.silent))
