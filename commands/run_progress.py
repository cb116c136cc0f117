"""Following runs on a terminal: progress while they last, and a table of what they have made."""

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import typer

from commands.interruption import signal_log
from commands.tables import build_console, build_table, print_table

if TYPE_CHECKING:
    from dagster import DagsterInstance
    from rich.progress import Progress, TaskID

    from assets.planning.obstacles import Limits
    from sensors.run_launcher import MaterializedPartition, RunLauncher, SharedBudget
    from sensors.run_plan import PlannedRun

_EVERY_S = 2.0
_MOST_WARNINGS = 20
_ENDED = ("STEP_SUCCESS", "STEP_FAILURE", "STEP_SKIPPED")
_COUNTED = ("dagster/row_count", "requests_sent", "requests_known_before")
_UNUSABLE = ("rejected", "duplicate", "unreadable", "refused", "failed", "unparsed", "malformed")
"""Outcomes of rows that count for nothing, as metadata name them."""


def execute_run(
    done: "RunLauncher",
    planned: "PlannedRun",
    instance: "DagsterInstance",
    progress: "Progress",
) -> None:
    """Do a run, and show how far it is.

    Raises KeyboardInterrupt, which says how many answers are kept, once an interrupted run ended.
    """
    from dagster import DagsterExecutionInterruptedError

    try:
        _execute(done, planned, instance, progress)
        if signal_log.find_interrupt() is not None:
            raise KeyboardInterrupt
    except (KeyboardInterrupt, DagsterExecutionInterruptedError):
        answer_count = _count_answers(instance, done.run_ids)
        raise KeyboardInterrupt(f"Interrupted: {answer_count:,} answers kept.") from None


def _execute(
    done: "RunLauncher",
    planned: "PlannedRun",
    instance: "DagsterInstance",
    progress: "Progress",
) -> None:
    begun = done.begin(planned)
    task = progress.add_task(begun.name, total=begun.execution.steps)
    with _follow_steps(instance, begun.run_id, progress, task, begun.name):
        for event in done.events(begun):
            if event.event_type_value in _ENDED:
                progress.advance(task)
    progress.remove_task(task)


def _count_answers(instance: "DagsterInstance", run_ids: Sequence[str]) -> int:
    from commands.environment import open_stores

    with open_stores(instance, "models") as stores:
        count: int = stores.models.calls.count_answers(run_ids)
    return count


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
        typer.echo(f"Warning: {more:,} more stand in the runs' logs (`make ui`).", err=True)
    for problem in problems:
        typer.echo(problem, err=True)
    for path in done.report_paths:
        typer.echo(f"Report: {path}")


def build_results_table(
    materialized: "Sequence[MaterializedPartition]", failed_usd: float = 0.0
) -> Any:
    """Build a table of rows, unusable rows, requests and dollars by asset and partition, with sums.

    A line of its own has what failed runs spent, or may have, of which no table came.
    """
    table = build_table("asset", "partition", "rows>", "unusable>", "sent>", "known>", "spent>")
    for asset, partition, metadata in materialized:
        table.add_row(asset, partition, *_numbers(metadata))
    if failed_usd:
        table.add_row("what failed, at most", "", *_numbers({"spent_usd": failed_usd}))
    if len(materialized) > 1 or failed_usd:
        table.add_section()
        table.add_row("all", "", *_numbers(_sums(materialized, failed_usd)))
    return table


def _sums(materialized: "Sequence[MaterializedPartition]", failed_usd: float) -> dict[str, Any]:
    sums = Counter[str]()
    for _, _, metadata in materialized:
        sums.update({name: metadata.get(name, 0) for name in (*_COUNTED, *_UNUSABLE)})
    spent = [metadata["spent_usd"] for _, _, metadata in materialized if "spent_usd" in metadata]
    total = None if "unknown" in spent else sum(spent) + failed_usd
    return {**sums, "spent_usd": "unknown" if total is None else total}


def _numbers(metadata: Mapping[str, Any]) -> list[str]:
    rows, *requests = [f"{metadata[name]:,}" if name in metadata else "" for name in _COUNTED]
    unusable = sum(metadata.get(name, 0) for name in _UNUSABLE)
    spent = metadata.get("spent_usd", "")
    return [
        rows,
        f"{unusable:,}" if unusable else "",
        *requests,
        f"${spent:,.4f}" if isinstance(spent, int | float) else spent,
    ]


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


def build_progress_bars() -> "Progress":
    """Bars on the terminal, which go away at the end; none in a file."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}")
    bars = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    terminal = build_console(errors=True)
    return Progress(*bars, console=terminal, transient=True, disable=not terminal.is_terminal)


@contextmanager
def _follow_steps(
    instance: "DagsterInstance", run_id: str, progress: "Progress", task: "TaskID", name: str
) -> Iterator[None]:
    """Show what the steps of a run say of themselves, meanwhile."""
    over = Event()

    def follow() -> None:
        cursor: str | None = None
        while not over.wait(_EVERY_S):
            news = instance.get_records_for_run(run_id, cursor)
            cursor = news.cursor
            messages = [
                record.event_log_entry.user_message
                for record in news.records
                if record.event_log_entry.dagster_event is None
                and int(record.event_log_entry.level) >= logging.INFO
            ]
            if messages:
                progress.update(task, description=f"{name}: {messages[-1]}")

    thread = Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
