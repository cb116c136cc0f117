"""`counterfactory prune`."""

from typing import TYPE_CHECKING, Annotated

import typer

from commands.environment import open_stores
from commands.tables import build_table, print_table

if TYPE_CHECKING:
    from dagster import DagsterInstance
    from upath import UPath

    from resources.storage.garbage_collector import Waste


def prune(
    remove: Annotated[bool, typer.Option("--remove", help="Remove it.")] = False,
    calls: Annotated[
        bool,
        typer.Option(
            "--calls", help="With --remove: also answers that no table names, which were paid for."
        ),
    ] = False,
) -> None:
    """Show what nothing in the stores refers to any more, or remove it.

    Example, first to look, then to remove:

        counterfactory prune

        counterfactory prune --remove
    """
    from dagster import DagsterInstance

    from resources.settings.locations import find_data_root
    from resources.storage.garbage_collector import GarbageCollector

    if calls and not remove:
        raise typer.BadParameter("look at what would be removed first, then add --remove.")
    with DagsterInstance.get() as instance, open_stores(instance, "models", "work_cache") as stores:
        _require_rest(instance)
        collector = GarbageCollector(
            find_data_root(),
            stores.models.calls,
            stores.models.images,
            stores.work_cache,
        )
        waste = collector.waste()
        if remove:
            _require_rest(instance)
            collector.remove(waste, calls=calls)
        _show(waste, remove=remove, calls=calls)


def _require_rest(instance: "DagsterInstance") -> None:
    """Raise `StoreBusy` while a run is in progress: it may use what no table names yet."""
    from dagster import DagsterRunStatus, RunsFilter

    from resources.faults import StoreBusy

    statuses = ("QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING")
    under_way = RunsFilter(statuses=[DagsterRunStatus[status] for status in statuses])
    runs = instance.get_runs(under_way, limit=3)
    if runs:
        raise StoreBusy(
            f"Runs are in progress ({', '.join(run.run_id for run in runs)}), which may use what "
            "no table names yet: nothing was removed. Wait until they end, or terminate them under "
            "Runs, then prune again."
        )


def _show(waste: "Waste", *, remove: bool, calls: bool) -> None:
    free = "removed" if remove else "--remove"
    paid = "removed" if calls else "--remove --calls"
    cost = f"booked at ${waste.cost / 1e9:,.4f}" if waste.cost else "at no booked cost"
    if waste.unbooked:
        cost += f"; {waste.unbooked:,} without a booking"
    table = build_table("what", "number>", "size>", "remove with")
    for label, number, size, how in (
        ("pictures that nothing refers to", len(waste.images), _megabytes(waste.images), free),
        ("claims of processes that ended long ago", waste.claims, "", free),
        (
            "files of killed processes, unused copies",
            len(waste.leftovers),
            _megabytes(waste.leftovers),
            free,
        ),
        (f"answers that no table names, {cost}", len(waste.calls), "", paid),
        (
            "pictures that only those refer to",
            len(waste.call_images),
            _megabytes(waste.call_images),
            paid,
        ),
    ):
        table.add_row(label, f"{number:,}", size, how if number else "")
    print_table(table)


def _megabytes(sizes: "dict[str, int] | dict[UPath, int]") -> str:
    return f"{sum(sizes.values()) / 1e6:,.1f} MB"
