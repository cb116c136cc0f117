"""`counterfactory reroll`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from commands.tables import build_table, print_table
from resources.faults import OverBudget

if TYPE_CHECKING:
    import pandas as pd
    from dagster import AssetKey, DagsterInstance

    from assets.kit.rerolls import Reroll
    from assets.planning import Task
    from assets.planning.lines import Quote
    from resources.models.catalog import Catalog, Model
    from resources.storage.data_root import DataRoot
    from sensors.run_launcher import RunLauncher

_IMPORTED = "imported"
_NO_NEW_ANSWERS = (
    "answers imported from another harness's log are about the set alone, and nothing can be asked "
    "about new pictures through such an entry"
)


def reroll(
    benchmark: Annotated[
        str,
        typer.Argument(
            metavar="BENCHMARK",
            help="The benchmark to draw anew.",
            autocompletion=complete_benchmarks,
        ),
    ],
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Seed of the new pictures; not the set's own.")
    ],
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            "-j",
            metavar="NAME[,NAME…]",
            help="Some judges, no stand-ins or imported answers; by default all that have answered "
            "the set.",
            autocompletion=complete_judges,
        ),
    ] = None,
    budget: Budget = None,
    no_budget: NoBudget = False,
) -> None:
    """Draw a benchmark's pictures anew, and test whether judges do worse on them.

    A judge that does worse on pictures that it cannot have seen may know the set. Says first what
    it would send and cost. Without a budget it stops there, unless it is free. Example:

        counterfactory reroll vlmbias --seed 7 --budget 5
    """
    from dagster import DagsterInstance

    from assets.kit.partitions import add_painters
    from assets.planning import Task, format_text, quote_tasks
    from assets.planning.obstacles import require_no_obstacles
    from definitions import catalog, planners

    require_one_budget(budget, no_budget=no_budget)
    spec = _find_reroll(benchmark)
    with DagsterInstance.get() as instance:
        add_painters(instance, catalog)
        with open_stores(instance) as stores:
            partitions = spec.select_partitions(stores.home, seed)
            judges = select_compared_judges(
                catalog, spec, stores.home, partitions, split_list(judge)
            )
            answer_tasks = [
                Task(spec.answers_key(model.name), partition, {})
                for model in judges
                for partition in partitions
                if stores.home.holds(spec.released_key(model.name), partition)
            ]
            question_tasks = [Task(spec.questions, name, {"seed": seed}) for name in partitions]
            drafts = {
                (spec.questions, name): spec.draft_questions(
                    stores.home, stores.images, stores.work_cache, name, seed
                ).to_pandas()
                for name in partitions
            }
            require_pairs(spec, stores.home, judges, drafts)
            sources = replace(build_plan_context(stores), draft_tables=drafts)
            quote = quote_tasks(planners, sources, answer_tasks)
            typer.echo(spec.scope)
            typer.echo(format_text(quote, []))
            _print_replaced(spec, stores.home, partitions, seed)
            if budget is None and not no_budget and not quote.is_free:
                print_unsent(quote.totals)
                return
            require_no_obstacles(quote.totals, load_limits(budget))
            runs = _RerollRuns.build(instance, [*question_tasks, *answer_tasks], budget)
            runs.execute(question_tasks)
            if not runs.problems:
                require_own_seed(spec, stores.home, partitions, seed)
                runs.execute(answer_tasks)
            results = None
            if runs.has_materialized(answer_tasks) and not runs.is_over_budget:
                require_own_seed(spec, stores.home, partitions, seed)
                runs.execute([Task(spec.results, "", {})])
                for key in _list_reports(instance, spec):
                    runs.execute([Task(key, "", {})])
                results = stores.home.find(spec.results)
            rest = quote_tasks(planners, sources, answer_tasks) if runs.is_over_budget else None
    print_results(runs.done, runs.problems)
    if results is not None:
        _print_findings(results)
    if rest is not None:
        _print_rest(rest)
    if runs.problems:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _RerollRuns:
    """Runs within one budget, one kind of tables after the other."""

    instance: "DagsterInstance"
    done: "RunLauncher"
    budget: float | None

    @classmethod
    def build(
        cls, instance: "DagsterInstance", tasks: "Sequence[Task]", budget: float | None
    ) -> "_RerollRuns":
        """Prepare runs with the config of these tasks."""
        from definitions import defs
        from sensors.run_launcher import RunLauncher

        assets = defs.get_repository_def().assets_defs_by_key
        spending = load_shared_budget(instance, budget)
        start_quiet_forkserver()
        return cls(instance, RunLauncher(instance, assets, tasks, {}, spending), budget)

    @property
    def is_over_budget(self) -> bool:
        """True once a request was not sent because of a budget."""
        return any(failure.error == OverBudget.__name__ for failure in self.done.failures)

    @property
    def problems(self) -> list[object]:
        """Failed checks and failures; of a budget that is used up, the first failure alone."""
        failures = self.done.failures
        if self.is_over_budget:
            failures = [failure for failure in failures if failure.error == OverBudget.__name__][:1]
        return [*self.done.failed_checks, *failures]

    def has_materialized(self, tasks: "Iterable[Task]") -> bool:
        """Return whether the runs made a table of any of the tasks."""
        names = {task.asset.to_user_string() for task in tasks}
        return any(table.asset in names for table in self.done.materialized)

    def execute(self, tasks: "Iterable[Task]") -> None:
        """Do the runs of some tasks, while the budget lasts."""
        from definitions import defs
        from sensors.run_plan import plan_runs

        stages = plan_runs(defs.resolve_asset_graph(), self.instance, tasks)
        runs = [run for stage in stages for run in stage]
        extent = Extent(runs=len(runs), budget_usd=self.budget)
        with ProgressDisplay(self.instance, self.done, extent) as progress:
            for run in runs:
                if not self.is_over_budget:
                    progress.execute(run)


def _find_reroll(name: str) -> "Reroll":
    """The reroll of a benchmark; raises `typer.BadParameter` where there is none."""
    from assets.kit.benchmarks import load_benchmarks

    able = {other.name: other.reroll for other in load_benchmarks().values() if other.reroll}
    if name not in able:
        raise typer.BadParameter(
            f"{name!r} cannot be drawn anew by a seed. Choose {' or '.join(able)}."
        )
    return able[name]


def select_compared_judges(
    catalog: "Catalog",
    spec: "Reroll",
    home: "DataRoot",
    partitions: Sequence[str],
    names: Sequence[str],
) -> "list[Model]":
    """Select the judges of those names, by default all, that have answered about the set.

    By default imported judges are left out, with a sentence. Raises `typer.BadParameter` for a name
    that cannot be compared, and where no judge can.
    """
    from assets.kit.judge_tasks import find_judge

    answered = [
        model
        for model in catalog.select_role("judge")
        if not model.is_stand_in
        and any(home.holds(spec.released_key(model.name), partition) for partition in partitions)
    ]
    if names:
        judges = [find_judge(catalog, name) for name in names]
        for model in judges:
            _require_comparable(model, catalog, answered, spec.questions.path[0])
        return judges
    imported = [model.name for model in answered if model.backend == _IMPORTED]
    if imported:
        typer.echo(f"Left out: {', '.join(imported)}; {_NO_NEW_ANSWERS}.")
    judges = [model for model in answered if model.backend != _IMPORTED]
    if not judges:
        group = spec.questions.path[0]
        raise typer.BadParameter(
            f"No {'other ' if imported else ''}judge has answered {group} yet, and stand-ins do "
            "not take part: there is nothing to compare with. Run `counterfactory judge NAME "
            f"--benchmark {group}` first."
        )
    return judges


def require_pairs(
    spec: "Reroll",
    home: "DataRoot",
    judges: "Sequence[Model]",
    drafts: "Mapping[tuple[AssetKey, str], pd.DataFrame]",
) -> None:
    """Raise `typer.BadParameter` for a judge that was asked about too little of the set."""
    from metrics.statistics.firmness import MAX_MISSING_SHARE

    total = sum(map(len, drafts.values()))
    for model in judges:
        pairs = sum(
            spec.count_pairs(home, model.name, partition, questions)
            for (_, partition), questions in drafts.items()
        )
        if total - pairs > MAX_MISSING_SHARE * total:
            group = spec.questions.path[0]
            raise typer.BadParameter(
                f"{model.name} was asked about {pairs:,} of the {total:,} questions that new ones "
                "are compared with, too few for a verdict. Run `counterfactory judge "
                f"{model.name} --benchmark {group}` first, or name other judges by --judge."
            )


def _require_comparable(
    model: "Model", catalog: "Catalog", answered: "Sequence[Model]", group: str
) -> None:
    """Raise `typer.BadParameter` for a judge that cannot be asked, or has not answered the set."""
    from resources.models.catalog import list_step_models

    if model.is_stand_in:
        raise typer.BadParameter(
            f"{model.name}: a stand-in, which cannot have seen pictures before. Name a model "
            f"that has answered {group}."
        )
    if model.backend == _IMPORTED:
        raise typer.BadParameter(
            f"{model.name}: {_NO_NEW_ANSWERS}. Add the model itself to {catalog.path} with a "
            f"backend that reaches it, run `counterfactory judge NAME --benchmark {group}`, and "
            "name that entry."
        )
    if "judge" not in model.roles:
        raise typer.BadParameter(
            f"{model.name}: a metric. Only entries of {catalog.path} with the role judge are asked "
            f"about new pictures{_suggest_judges(answered)}."
        )
    for entry in catalog.select_role("judge"):
        if any(step.name == model.name for step in list_step_models(entry)):
            raise typer.BadParameter(
                f"{model.name}: a step of the thinking of {entry.name}. Only entries of "
                f"{catalog.path} themselves are asked about new pictures: name {entry.name}."
            )
    if model not in answered:
        raise typer.BadParameter(
            f"{model.name} has not answered {group} yet: there is nothing to compare with. Run "
            f"`counterfactory judge {model.name} --benchmark {group}` first."
        )


def _suggest_judges(answered: "Sequence[Model]") -> str:
    names = [model.name for model in answered if model.backend != _IMPORTED]
    return f": name {' or '.join(names)}" if names else ""


def _list_reports(instance: "DagsterInstance", spec: "Reroll") -> "list[AssetKey]":
    """List the reports that there are and that show the results."""
    from dagster import AssetKey

    from assets.front import FRONT_PAGE

    keys = (AssetKey([spec.questions.path[0], "report"]), FRONT_PAGE)
    return [key for key in keys if instance.get_latest_materialization_event(key) is not None]


def _find_seeds(spec: "Reroll", home: "DataRoot", partitions: Sequence[str]) -> set[int]:
    """Find the seeds of the questions that are stored."""
    tables = (home.find(spec.questions, name, ["seed"]) for name in partitions)
    return {int(table["seed"].iloc[0]) for table in tables if table is not None}


def require_own_seed(
    spec: "Reroll", home: "DataRoot", partitions: Sequence[str], seed: int
) -> None:
    """Say which seed another command has drawn meanwhile, and end with exit code 1."""
    for other_seed in sorted(_find_seeds(spec, home, partitions) - {seed}):
        typer.echo(
            f"The new questions of {spec.questions.path[0]} are of seed {other_seed} now, not of "
            f"{seed}: another reroll has drawn them meanwhile. Let it end, and give this command "
            "again: answers that it has are stored.",
            err=True,
        )
        raise typer.Exit(1)


def _print_replaced(spec: "Reroll", home: "DataRoot", partitions: Sequence[str], seed: int) -> None:
    """Say whose comparison an answered seed replaces, and how it comes back."""
    for replaced_seed in sorted(_find_seeds(spec, home, partitions) - {seed}):
        command = f"counterfactory reroll {spec.questions.path[0]} --seed {replaced_seed}"
        typer.echo(
            f"Reports compare pictures of seed {replaced_seed} so far. Once judges are asked about "
            f"seed {seed}, its comparison takes that place; `{command}` brings it back for free."
        )


def _print_rest(rest: "Quote") -> None:
    """Say which answers are missing once a budget is used up, their cost, and how to go on."""
    from resources.calls.spending import NANO

    missing = ", ".join(
        f"{total.to_send:,} of {total.requests:,} of {total.model.name}"
        for total in rest.totals
        if total.to_send
    )
    bound = sum(total.prices["online"].bound.nano for total in rest.totals) / NANO
    typer.echo(
        f"Answers that are missing: {missing}; at most ${bound:,.4f}. The same command with a "
        "larger budget asks for these alone.",
        err=True,
    )


def _print_findings(results: "pd.DataFrame") -> None:
    """Print each judge's numbers and its finding."""
    from assets.kit.columns import to_records
    from assets.report.formats import Rate, format_percent, format_points

    findings = to_records(results[results["finding"].notna()])
    table = build_table("judge", "set>", "new>", "difference, points>", "verdict")
    for row in findings:
        points = format_points(Rate(row["difference"], row["low"], row["high"]))
        shares = (format_percent(row[name]) for name in ("released", "fresh"))
        table.add_row(row["model"], *shares, points, row["verdict"])
    print_table(table)
    typer.echo("\n".join(row["finding"] for row in findings))
