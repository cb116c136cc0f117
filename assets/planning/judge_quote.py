"""Everything that one judge or metric is asked, by benchmark, and what is missing."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dagster import AssetKey

from assets.kit.benchmarks import Benchmark, load_benchmarks
from assets.kit.judge_tasks import JudgeTask, JudgeTaskFinder, TableLocation
from assets.kit.plan import PlanContext
from assets.kit.step_planner import build_step_planners
from assets.planning.cell_quotes import Prerequisite, find_prerequisites, is_ready
from assets.planning.lines import Quote, QuoteLine, quote_tasks
from assets.planning.prices import empty_prices
from assets.planning.quote_selection import CannotQuote, Task, to_planned_configs
from assets.planning.quote_sentences import describe_oversized
from assets.planning.quote_text import sum_totals
from generators.name_suggestions import suggest_names
from resources.faults import StoreError
from resources.models.catalog import Model


@dataclass(frozen=True)
class JudgeScope:
    """Judge to ask, the benchmarks that ask it, and a limit for each partition.

    Without a `limit` it is asked about all items. `stand_ins` includes the items that stand-ins
    made, which yield no result.
    """

    judge: Model
    benchmarks: Sequence[Benchmark]
    limit: int | None = None
    stand_ins: bool = False


class BenchmarkQuote(NamedTuple):
    """Tasks of a benchmark for the judge, with their quote.

    `tasks` can run now, including those that ask no model; the others need `prerequisites` first.
    Tasks that `quote` refuses are in neither. `error` says why nothing can be counted, if so.
    """

    benchmark: Benchmark
    tasks: Sequence[Task]
    partitions: int
    prerequisites: Sequence[Prerequisite]
    stand_in_partitions: Sequence[str]
    """Partitions that are left out, since stand-ins make all of them."""
    on_request: Sequence[AssetKey]
    other_judges_assets: Collection[AssetKey]
    """Assets of the tasks that ask other models about the judge's output."""
    quote: Quote
    error: str = ""


class JudgeQuote(NamedTuple):
    """Requests to a judge, benchmark by benchmark.

    `inapplicable` are the benchmarks that have nothing for such a model.
    """

    scope: JudgeScope
    benchmark_quotes: Sequence[BenchmarkQuote]
    inapplicable: Sequence[Benchmark]

    @property
    def quote(self) -> Quote:
        """A line per benchmark and model that is asked, and their sums."""
        shares = [share for share in self.benchmark_quotes if not share.error]
        lines = [line for share in shares for line in self._iterate_lines(share)]
        quotes = [share.quote for share in self.benchmark_quotes]
        by_model: dict[str, list[QuoteLine]] = defaultdict(list)
        for line in lines:
            by_model[line.model.name].append(line)
        return Quote(
            lines=lines,
            totals=[
                replace(sum_totals(Quote([], model_lines)), asset="", partition="")
                for model_lines in by_model.values()
            ],
            refused_tasks=self.refused_tasks,
            samples=[sample for quote in quotes for sample in quote.samples],
            warnings=list(dict.fromkeys(warning for quote in quotes for warning in quote.warnings)),
        )

    @property
    def judge_totals(self) -> list[QuoteLine]:
        """Totals of the requests to the judge itself."""
        return [total for total in self.quote.totals if total.model == self.scope.judge]

    @property
    def is_ready(self) -> bool:
        """True if any benchmark has tasks that can run now, or tasks and an `error`."""
        return any(share.tasks for share in self.benchmark_quotes)

    @property
    def is_free(self) -> bool:
        """True if the requests are certain to cost nothing."""
        return self.quote.is_free

    @property
    def other_judges_assets(self) -> set[AssetKey]:
        """The assets of other judges that are made again with what this one has made."""
        return {key for share in self.benchmark_quotes for key in share.other_judges_assets}

    def notes(self) -> Iterator[str]:
        """List what the quote leaves out, and why."""
        if not self.is_ready:
            yield f"Nothing is there yet that {self.scope.judge.name} could be asked about."
        for benchmark in self.inapplicable:
            yield f"{benchmark.title} has nothing to ask of {self.scope.judge.name}."
        for share in self.benchmark_quotes:
            yield from _iterate_notes(share, self.scope.judge)

    @property
    def refused_tasks(self) -> Mapping[str, Sequence[Task]]:
        """Tasks that a run would refuse, by reason, so that no run is started."""
        tasks_by_reason: dict[str, list[Task]] = defaultdict(list)
        for share in self.benchmark_quotes:
            for why, tasks in share.quote.refused_tasks.items():
                tasks_by_reason[why] += tasks
        return tasks_by_reason

    def _iterate_lines(self, share: BenchmarkQuote) -> Iterator[QuoteLine]:
        """Iterate over a benchmark's lines: the judge's, then those of others asked about it."""
        judge = self.scope.judge
        own_tasks = [task for task in share.tasks if task.asset not in share.other_judges_assets]
        by_model = {total.model.name: total for total in share.quote.totals}
        partitions_by_model = {judge.name: {task.partition for task in own_tasks}}
        for line in share.quote.lines:
            partitions_by_model.setdefault(line.model.name, set()).add(line.partition)
        nothing = QuoteLine("", "", judge, prices=empty_prices(judge))
        for name, line in ({judge.name: nothing} | by_model).items():
            count_text = f"{len(partitions_by_model[name])} of {share.partitions} partitions"
            yield replace(line, asset=share.benchmark.title, partition=count_text)


def find_benchmarks(names: Sequence[str]) -> list[Benchmark]:
    """The benchmarks of those names, all without any. Raises `CannotQuote`."""
    benchmarks = load_benchmarks()
    for name in names:
        if name not in benchmarks:
            raise CannotQuote(
                f"There is no benchmark {name!r}{suggest_names(name, list(benchmarks))}."
            )
    return [benchmark for name, benchmark in benchmarks.items() if not names or name in names]


def quote_judge(
    task_finder: JudgeTaskFinder, sources: PlanContext, scope: JudgeScope
) -> JudgeQuote:
    """Quote the requests to a judge now; nothing is sent.

    Raises `CannotQuote` where none of the benchmarks has anything for it.
    """
    shares, inapplicable = [], []
    for benchmark in scope.benchmarks:
        share = _quote_benchmark(task_finder, sources, scope, benchmark)
        if share is None:
            inapplicable.append(benchmark)
        else:
            shares.append(share)
    if not shares:
        names = ", ".join(scope_benchmark.name for scope_benchmark in scope.benchmarks)
        able = [
            name
            for name, other_benchmark in load_benchmarks().items()
            if task_finder.find_tasks(scope.judge, other_benchmark).is_applicable
        ]
        raise CannotQuote(
            f"{scope.judge.name}: {names} has nothing to ask of such a model. "
            f"Choose {' or '.join(able) or 'another model'}."
        )
    return JudgeQuote(scope, shares, inapplicable)


def _quote_benchmark(
    task_finder: JudgeTaskFinder, sources: PlanContext, scope: JudgeScope, benchmark: Benchmark
) -> BenchmarkQuote | None:
    benchmark_tasks = task_finder.find_tasks(scope.judge, benchmark)
    if not benchmark_tasks.is_applicable:
        return None
    ready = [
        task
        for task in benchmark_tasks.tasks
        if is_ready(task, scope.judge, stand_ins=scope.stand_ins)
    ]
    ready_partitions = {task.partition for task in ready}
    stand_in_partitions = {
        task.partition for task in benchmark_tasks.tasks if task.is_stand_in
    } - ready_partitions
    share = BenchmarkQuote(
        benchmark=benchmark,
        tasks=[Task(*task.location, _build_config(task, scope.limit)) for task in ready],
        partitions=len({task.partition for task in benchmark_tasks.tasks}),
        prerequisites=find_prerequisites(
            task_finder, benchmark_tasks, scope.judge, stand_ins=scope.stand_ins
        ),
        stand_in_partitions=sorted(stand_in_partitions) if not scope.stand_ins else [],
        on_request=benchmark_tasks.on_request,
        other_judges_assets={task.step.key for task in ready if task.rebuild_config is not None},
        quote=Quote([], []),
    )
    asking = build_step_planners({task.step.key: task.step for task in ready})
    planners = build_step_planners(task_finder.steps)
    try:
        quote = quote_tasks(
            {key: planners[key] for key in asking},
            sources.with_planned(to_planned_configs(share.tasks)),
            [task for task in share.tasks if task.asset in asking],
        )
    except (StoreError, ValueError) as why:
        return share._replace(error=str(why))
    return _drop_uncountable(_drop_refused(task_finder, ready, share._replace(quote=quote)))


def _drop_refused(
    task_finder: JudgeTaskFinder, ready: Sequence[JudgeTask], share: BenchmarkQuote
) -> BenchmarkQuote:
    """Drop tasks that a run would refuse, and those that start from one of these."""
    reasons = {
        _locate(task): why for why, tasks in share.quote.refused_tasks.items() for task in tasks
    }
    for judge_task in ready:
        for source, location in task_finder.iterate_inputs(judge_task):
            is_refused = location in reasons and not source.is_optional
            if is_refused and not task_finder.is_stored(location):
                reasons.setdefault(judge_task.location, reasons[location])
    refused: dict[str, list[Task]] = defaultdict(list)
    for task in share.tasks:
        if _locate(task) in reasons:
            refused[reasons[_locate(task)]].append(task)
    return share._replace(
        tasks=[task for task in share.tasks if _locate(task) not in reasons],
        quote=share.quote._replace(refused_tasks=refused),
    )


def _drop_uncountable(share: BenchmarkQuote) -> BenchmarkQuote:
    """Drop tasks whose requests cannot be counted before something else is materialized."""
    assets = {(line.asset, line.partition): line.missing_asset for line in share.quote.lines}
    missing = {
        task: missing_asset
        for task in map(_locate, share.tasks)
        if (missing_asset := assets.get((task[0].to_user_string(), task[1])))
    }
    if not missing:
        return share
    before: dict[str, list[str]] = defaultdict(list)
    for (_, partition), missing_asset in missing.items():
        before[missing_asset].append(partition)
    first = [
        Prerequisite((AssetKey.from_user_string(missing_asset),), tuple(p))
        for missing_asset, p in before.items()
    ]
    lines = [line for line in share.quote.lines if line.missing_asset is None]
    totals = [replace(total, missing_asset=None) for total in share.quote.totals] if lines else []
    return share._replace(
        tasks=[task for task in share.tasks if _locate(task) not in missing],
        prerequisites=[*share.prerequisites, *first],
        quote=share.quote._replace(lines=lines, totals=totals),
    )


def _locate(task: Task) -> TableLocation:
    return task.asset, task.partition


def _build_config(task: JudgeTask, limit: int | None) -> Mapping[str, Any]:
    if task.rebuild_config is not None:
        return task.rebuild_config
    if limit is None or "limit" not in task.step.config.model_fields:
        return {}
    return {"limit": limit}


def _iterate_notes(share: BenchmarkQuote, judge: Model) -> Iterator[str]:
    title = share.benchmark.title
    others = {line.model.name: None for line in share.quote.lines if line.model != judge}
    if others:
        yield (
            f"{title}: asked as well, about what {judge.name} writes: {', '.join(others)}. Its own "
            "numbers need that. Their tables are made again, so that what else has no answer in "
            "these is asked too."
        )
    for total in share.quote.totals:
        if total.oversized:
            yield describe_oversized(total, title)
    if share.error:
        yield f"{title}: {share.error}"
    for prerequisite in share.prerequisites:
        partitions_text = ", ".join(filter(None, prerequisite.partitions))
        assets_text = " and ".join(key.to_user_string() for key in prerequisite.assets)
        assets_text += f" ({partitions_text})" if partitions_text else ""
        lines = [prerequisite.describe_choices(), prerequisite.command]
        yield (
            f"{title}: not there yet: {assets_text}. This command does not make it; to have it:"
            + "".join(f"\n    {line}" for line in filter(None, lines))
        )
    if share.stand_in_partitions:
        yield (
            f"{title}: left out, since stand-ins make it and no result comes of it: "
            f"{', '.join(filter(None, share.stand_in_partitions))}. For results, add a painter to "
            "models.yaml or a collection to collections.yaml."
        )
    if share.on_request:
        names = ", ".join(key.to_user_string() for key in share.on_request)
        yield f"{title}: further analyses, which have to be asked for by name: {names}."
