"""Runs of commands: their budgets and config, and a table of what they have made."""

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import typer

from commands.tables import build_table, print_table

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from assets.planning.lines import QuoteLine
    from assets.planning.obstacles import Limits
    from sensors.run_launcher import MaterializedPartition, RunLauncher, SharedBudget

_MOST_WARNINGS = 20
_COUNTS = MappingProxyType(
    {
        "rows": ("dagster/row_count",),
        "usable": ("answered", "scored", "painted", "taken"),
        "refused": ("refused",),
        "unparsed": ("unparsed",),
        "unusable": ("rejected", "duplicate", "unreadable", "failed", "malformed"),
        "sent": ("requests_sent",),
        "known": ("requests_known_before",),
    }
)
"""Metadata that columns sum: outcomes of rows, and requests; "known" was paid for before."""


def load_limits(
    budget: float | None, run_resources: Mapping[str, Any] = MappingProxyType({})
) -> "Limits":
    """The budgets that hold for runs: one for all, those of the environment and of run config."""
    from assets.planning.obstacles import Limits
    from definitions import resources

    limits = Limits(budget, resources["budget"].per_run_usd, resources["budget"].per_month_usd)
    fields = run_resources.get("budget", {}).get("config", {}).items()
    numbers = {name: value for name, value in fields if isinstance(value, int | float)}
    return limits._replace(**{name: numbers[name] for name in numbers.keys() & {*limits._fields}})


def load_shared_budget(instance: "DagsterInstance", budget: float | None) -> "SharedBudget":
    """Build the budget that runs share, from `budget` and the budget of each single run."""
    from commands.environment import open_stores
    from definitions import resources
    from sensors.run_launcher import SharedBudget

    def sum_spending_nano(runs: Sequence[str]) -> int:
        with open_stores(instance, "models") as stores:
            nano: int = stores.models.calls.sum_spending(runs)
        return nano

    return SharedBudget(budget, resources["budget"].per_run_usd, sum_spending_nano)


def read_resources(settings: Any) -> dict[str, Any]:
    """The config of resources; raises `ValueError` where there is none such, or for a value."""
    from definitions import resources
    from generators.name_suggestions import suggest_names
    from resources.settings.run_config import BadConfig, Resource

    for name in settings if isinstance(settings, Mapping) else ["resources"]:
        if name not in resources:
            among = suggest_names(name, sorted(resources))
            raise ValueError(f"The config names the resource {name!r}, which is not there{among}.")
        resource_config = (
            settings[name].get("config", {}) if isinstance(settings[name], Mapping) else None
        )
        if not isinstance(resource_config, Mapping):
            raise ValueError(f'The config of {name} has to be as in {{"config": {{…}}}}.')
        # Dagster says which fields there are, and reads {env: NAME}.
        fields = type(resources[name]).model_fields
        plain = {
            key: value
            for key, value in resource_config.items()
            if key in fields and value is not None
        }
        if isinstance(resources[name], Resource) and not any(
            isinstance(value, Mapping) for value in plain.values()
        ):
            try:
                type(resources[name])(**plain)
            except BadConfig as why:
                raise ValueError(f"The config of {name}: {why}") from None
    return dict(settings)


def print_unsent(totals: "Iterable[QuoteLine]") -> None:
    """Say that nothing was sent, what would keep it from being sent, and how to go ahead."""
    from assets.planning.obstacles import find_obstacles

    typer.echo("\n".join(["", *find_obstacles(totals, load_limits(math.inf))]))
    typer.echo("Nothing was sent. Give --budget USD, the most that it may spend, or --no-budget.")


def print_results(done: "RunLauncher", problems: Iterable[object] = ()) -> None:
    """Print what runs made and spent, warnings, `problems`, and last where the reports lie."""
    failed_usd = done.spent_by_failed_usd
    if done.materialized or failed_usd:
        print_table(build_results_table(done.materialized, failed_usd))
    warnings = list(dict.fromkeys(done.warnings))
    for line in warnings[:_MOST_WARNINGS]:
        typer.echo(f"Warning: {line}", err=True)
    if len(warnings) > _MOST_WARNINGS:
        more = len(warnings) - _MOST_WARNINGS
        typer.echo(
            f"Warning: {more:,} more stand in the runs' logs (`counterfactory ui`).", err=True
        )
    for problem in problems:
        typer.echo(problem, err=True)
    for path in done.report_paths:
        typer.echo(f"Report: {path}")


def build_results_table(
    materialized: "Sequence[MaterializedPartition]", failed_usd: float = 0.0
) -> Any:
    """Build a table of rows, outcomes, requests and dollars by asset and partition, with sums.

    It has the columns that any of them fills. A line of its own has what failed runs spent, or may
    have, of which no table came.
    """
    lines = [
        (asset, partition, _sum_counts(metadata), metadata.get("spent_usd"))
        for asset, partition, metadata in materialized
    ]
    if failed_usd:
        lines.append(("what failed, at most", "", Counter[str](), failed_usd))
    sums = Counter[str]()
    for _, _, counts, _ in lines:
        sums.update(counts)
    names = [name for name in _COUNTS if name in sums]
    table = build_table("asset", "partition", *(f"{name}>" for name in names), "spent>")

    def add_row(asset: str, partition: str, numbers: Counter[str], spent: Any) -> None:
        cells = [f"{numbers[name]:,}" if name in numbers else "" for name in names]
        table.add_row(asset, partition, *cells, _format_spent(spent))

    for line in lines:
        add_row(*line)
    if len(lines) > 1:
        table.add_section()
        spent = [line[3] for line in lines if line[3] is not None]
        add_row("all", "", sums, "unknown" if "unknown" in spent else sum(spent))
    return table


def _sum_counts(metadata: Mapping[str, Any]) -> Counter[str]:
    """The numbers of the columns that metadata have anything of."""
    return Counter(
        {
            column: sum(metadata.get(name, 0) for name in names)
            for column, names in _COUNTS.items()
            if any(name in metadata for name in names)
        }
    )


def _format_spent(spent: Any) -> str:
    return f"${spent:,.4f}" if isinstance(spent, int | float) else spent or ""


def start_quiet_forkserver() -> None:
    """Start the process from which steps are forked, with nothing of theirs on the terminal.

    Dagster keeps with each run what its steps log and print.
    """
    import multiprocessing
    from multiprocessing.forkserver import ensure_running

    from definitions import PRELOADED

    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    standard = [(number, os.dup(number)) for number in (1, 2)]
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        for number, _ in standard:
            os.dup2(null, number)
        ensure_running()
    finally:
        os.close(null)
        for number, copy in standard:
            os.dup2(copy, number)
            os.close(copy)
