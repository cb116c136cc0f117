"""`counterfactory judge`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from commands.completion import complete_benchmarks, complete_judges
from commands.environment import build_plan_context, open_stores
from commands.options import Budget, NoBudget, require_one_budget, split_list
from commands.run_progress import Extent, ProgressDisplay
from commands.runs import (
    load_limits,
    load_shared_budget,
    print_results,
    print_unsent,
    start_quiet_forkserver,
)

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from assets.kit.judge_tasks import JudgeTaskFinder
    from assets.planning.judge_quote import JudgeQuote


def judge(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A judge or metric of models.yaml.",
            autocompletion=complete_judges,
        ),
    ],
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark",
            "-b",
            metavar="NAME[,NAME…]",
            help="Some benchmarks; all by default.",
            autocompletion=complete_benchmarks,
        ),
    ] = None,
    budget: Budget = None,
    no_budget: NoBudget = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="A trial: about so many items of each partition."),
    ] = None,
    stand_ins: Annotated[
        bool,
        typer.Option("--stand-ins", help="Ask about what stand-ins made as well, to try it out."),
    ] = False,
) -> None:
    """Have one judge or metric answer every benchmark, then make the reports.

    Says first what it would send and cost. Without a budget it stops there, unless it is free.
    Example:

        counterfactory judge gpt_6_luna --budget 20
    """
    from dagster import DagsterInstance

    from assets.kit.judge_tasks import JudgeTaskFinder, find_judge
    from assets.kit.partitions import add_painters
    from assets.planning import format_text
    from assets.planning.judge_quote import JudgeScope, find_benchmarks, quote_judge
    from assets.planning.obstacles import require_no_obstacles
    from definitions import catalog, defs

    require_one_budget(budget, no_budget=no_budget)
    model = find_judge(catalog, name)
    scope = JudgeScope(
        judge=model,
        benchmarks=find_benchmarks(split_list(benchmark)),
        limit=limit,
        stand_ins=stand_ins,
    )
    with DagsterInstance.get() as instance:
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        with open_stores(instance) as stores:
            sources = build_plan_context(stores)
            task_finder = JudgeTaskFinder(catalog, stores.home, instance, assets)
            quote = quote_judge(task_finder, sources, scope)
            typer.echo("\n".join([format_text(quote.quote, []), *quote.notes()]))
            if not quote.is_ready:
                raise typer.Exit(1)
            if budget is None and not no_budget and not quote.is_free:
                print_unsent(quote.judge_totals)
                return
            require_no_obstacles(quote.judge_totals, load_limits(budget))
            failed = _judge(instance, task_finder, quote, budget)
    if limit is not None and not failed:
        typer.echo(f"A trial. All of it: {format_command(name, benchmark or (), stand_ins)}")
    if failed:
        raise typer.Exit(1)


def format_command(name: str, benchmarks: Sequence[str], stand_ins: bool) -> str:
    """Format the command that asks a judge about all items of what a trial asked about."""
    options = [*(f"--benchmark {benchmark}" for benchmark in benchmarks)]
    options += ["--stand-ins"] if stand_ins else []
    return " ".join([f"counterfactory judge {name}", *options])


def _judge(
    instance: "DagsterInstance",
    task_finder: "JudgeTaskFinder",
    quote: "JudgeQuote",
    budget: float | None,
) -> bool:
    """Do all runs, show what they made, and say whether any of it failed."""
    from definitions import defs
    from sensors.judge_runs import JudgeRuns

    spending = load_shared_budget(instance, budget)
    judging = JudgeRuns(defs.resolve_asset_graph(), task_finder, quote, spending)
    done = judging.launcher
    start_quiet_forkserver()
    lines = quote.quote.lines
    is_counted = all(line.missing_asset is None for line in lines)
    answers = sum(line.to_send + line.follow_ups for line in quote.quote.totals)
    extent = Extent(answers=answers if is_counted else None, budget_usd=budget)
    with ProgressDisplay(instance, done, extent) as progress:
        for run in judging.select_runs():
            progress.execute(run)
    print_results(done, [*judging.messages, *done.failed_checks, *done.failures])
    if not done.materialized and not done.failures and not judging.messages:
        typer.echo("All that is there is answered and up to date.")
    return bool(judging.messages or done.failed_checks or done.failures)
