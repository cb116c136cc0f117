"""Quotes of a benchmark's requests to a judge or metric: the cells of a table of judges.

Many judges get the same requests: a benchmark is planned once, and priced for each judge.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from dagster import AssetKey

from assets.kit.benchmarks import Benchmark
from assets.kit.judge_tasks import BenchmarkTasks, JudgeTask, JudgeTaskFinder, TableLocation
from assets.kit.plan import PlanContext, PlannedConfigs, Planners
from assets.kit.step_planner import build_step_planners
from assets.planning.lines import REFUSALS, Quote, QuoteLine, quote_tasks
from assets.planning.prices import Pricing, empty_prices
from assets.planning.quote_selection import Task
from assets.planning.quote_sentences import describe_oversized
from assets.planning.quote_text import format_expected_cost, format_max_cost, sum_totals
from assets.planning.shapes import Shapes
from resources.faults import StoreError
from resources.models.catalog import Model

RefusedPartitions: TypeAlias = Mapping[str, Sequence[Task]]
"""Tasks of partitions that a quote leaves out, by reason."""
_NO_REFUSALS: RefusedPartitions = MappingProxyType({})
_GroupKey: TypeAlias = tuple[Any, ...]
"""Key that judges with equal requests share."""


class _CellLines(NamedTuple):
    """Lines by model, the judge's first, and the partitions that they leave out."""

    lines: Sequence[QuoteLine]
    refused: RefusedPartitions


class Prerequisite(NamedTuple):
    """Assets that have to be made before a judge can be asked, parents first, by partitions."""

    assets: tuple[AssetKey, ...]
    partitions: tuple[str, ...]
    choices: tuple[tuple[AssetKey, str], ...] = ()
    """What has to be made before, with the dimension of which its user chooses one."""

    def describe_choices(self) -> str:
        """Say what its user has to choose first; empty for nothing."""
        return " ".join(
            f"First choose a {dimension} and make {key.to_user_string()} with it: there are none "
            "yet, and this fails without."
            for key, dimension in self.choices
        )

    @property
    def command(self) -> str:
        """The command that makes them."""
        names = [key.to_user_string() for key in self.assets]
        select = names[0] if len(names) == 1 else f"'{_format_alternatives(names)}'"
        partitions_text = ",".join(filter(None, self.partitions))
        return f"counterfactory run {select}" + (
            f" --partitions '{partitions_text}'" if partitions_text else ""
        )


class CellQuote(NamedTuple):
    """Requests of a benchmark to a judge, sent or not yet; see `CellQuotes.quote_cell`.

    `is_applicable` is False if the benchmark has nothing for such a model. `ready` counts those of
    its `partitions` whose requests can be sent now; the others need `prerequisites` first. `line`
    counts and prices the requests of the ready ones; `error` says why they cannot be counted.
    """

    judge: Model
    benchmark: str
    is_applicable: bool
    partitions: int = 0
    ready: int = 0
    line: QuoteLine | None = None
    other_lines: Sequence[QuoteLine] = ()
    """Lines by model, for requests to other judges about this one or its output."""
    prerequisites: Sequence[Prerequisite] = ()
    warnings: Sequence[str] = ()
    """Warnings of its steps, such as that it would give no number."""
    stand_in_partitions: int = 0
    """Partitions of which stand-ins made all, left out."""
    refused: RefusedPartitions = _NO_REFUSALS
    """Tasks left out because a run would refuse them, by reason."""
    error: str = ""

    @property
    def answered(self) -> int:
        """Requests that have an answer."""
        return self.line.stored if self.line else 0

    @property
    def missing(self) -> int:
        """Requests without an answer: to be sent, in a batch, or about what is still to be made."""
        return sum(map(_count_missing, self._lines))

    @property
    def picture_warnings(self) -> list[str]:
        """Say which requests show pictures beyond a limit of their model."""
        return [describe_oversized(line, line.asset) for line in self._lines if line.oversized]

    @property
    def follow_ups(self) -> int:
        """Upper bound of the missing requests that depend on replies not yet received."""
        return sum(line.follow_ups for line in self._lines)

    @property
    def missing_of_others(self) -> int:
        """Missing requests to other judges."""
        return sum(map(_count_missing, self.other_lines))

    @property
    def expected_cost(self) -> str:
        """Expected cost of the missing requests, such as $1.20; or unknown."""
        return format_expected_cost(self._sum, "online") if self.line else "$0.00"

    @property
    def max_cost(self) -> str:
        """The most that they can cost, as in $3.40; or unknown."""
        return format_max_cost(self._sum, "online") if self.line else "$0.00"

    @property
    def _lines(self) -> list[QuoteLine]:
        return [self.line, *self.other_lines] if self.line else []

    @property
    def _sum(self) -> QuoteLine:
        return sum_totals(Quote([], self._lines))

    @property
    def command(self) -> str:
        """The command that fills the cell, or, where nothing can be asked yet, makes it ready."""
        if self.prerequisites and not self.ready:
            return self.prerequisites[0].command
        return f"counterfactory judge {self.judge.name} --benchmark {self.benchmark}"


class CellQuotes:
    """The cells of many judges and benchmarks; what several share is worked out once."""

    def __init__(self, task_finder: JudgeTaskFinder, sources: PlanContext) -> None:
        self._task_finder, self._sources = task_finder, sources
        self._shapes: dict[_GroupKey, Shapes] = {}
        self._other_lines: dict[_GroupKey, Sequence[QuoteLine]] = {}
        self._pricing = Pricing(sources.calls)

    def quote_cell(self, judge: Model, benchmark: Benchmark) -> CellQuote:
        """The cell of a judge and a benchmark.

        If none of a few hundred sampled requests is answered, all count as unanswered.
        """
        benchmark_tasks = self._task_finder.find_tasks(judge, benchmark)
        if not benchmark_tasks.is_applicable:
            return CellQuote(judge, benchmark.name, is_applicable=False)
        ready = [task for task in benchmark_tasks.tasks if is_ready(task, judge)]
        cell = CellQuote(
            judge,
            benchmark.name,
            is_applicable=True,
            partitions=len({task.partition for task in benchmark_tasks.tasks}),
            ready=len({task.partition for task in ready}),
            prerequisites=find_prerequisites(self._task_finder, benchmark_tasks, judge),
            warnings=[*dict.fromkeys(filter(None, map(_find_warning, ready)))],
            stand_in_partitions=len(
                {
                    task.partition
                    for task in benchmark_tasks.tasks
                    if task.is_stand_in and not task.missing_tables and task not in ready
                }
            ),
        )
        try:
            (line, *others), refused = self._count_requests(judge, benchmark, ready)
            locations = {task[:2] for tasks in refused.values() for task in tasks}
            asked_partitions = {task.partition for task in ready if task.location not in locations}
            return cell._replace(
                line=line, other_lines=others, refused=refused, ready=len(asked_partitions)
            )
        except (StoreError, ValueError) as why:
            return cell._replace(error=str(why))

    def _count_requests(
        self, judge: Model, benchmark: Benchmark, ready: Sequence[JudgeTask]
    ) -> _CellLines:
        """Count the judge's requests, and then those of other judges by model."""
        asking_tasks = [task for task in ready if task.step.example_request is not None]
        own_tasks = [task for task in asking_tasks if task.rebuild_config is None]
        of_others = tuple(task.location for task in asking_tasks if task.rebuild_config is not None)
        # What an adapter was trained on decides whether its judge is asked at all.
        adapter = judge.parameters.get("adapter")
        group_key = *_build_group_key(benchmark, own_tasks, self._task_finder), of_others, adapter
        shapes, refused = self._shapes.get(group_key), _NO_REFUSALS
        if shapes is None:
            shapes, refused = self._plan_requests(own_tasks)
            if not refused:
                # A refusal names the judge, so it is not shared.
                self._shapes[group_key] = shapes
        if shapes.is_begun(self._sources.calls, judge):
            return self._quote_benchmark(judge, benchmark, asking_tasks)
        if group_key not in self._other_lines:
            # About every judge that has made nothing yet, other judges are asked the same.
            quoted = (
                self._quote_benchmark(judge, benchmark, asking_tasks).lines if of_others else []
            )
            self._other_lines[group_key] = quoted[1:]
        line = shapes.line(judge, benchmark.name, self._pricing)
        return _CellLines([line, *self._other_lines[group_key]], refused)

    def _quote_benchmark(
        self, judge: Model, benchmark: Benchmark, asking_tasks: Sequence[JudgeTask]
    ) -> _CellLines:
        tasks = [Task(*task.location, task.rebuild_config or {}) for task in asking_tasks]
        quote = quote_tasks(self._planners, self._sources, tasks)
        totals = {total.model.name: total for total in quote.totals}
        first = totals.pop(judge.name, QuoteLine("", "", judge, prices=empty_prices(judge)))
        lines = [replace(total, asset=benchmark.name) for total in (first, *totals.values())]
        return _CellLines(lines, quote.refused_tasks)

    def _plan_requests(self, asking_tasks: Sequence[JudgeTask]) -> tuple[Shapes, RefusedPartitions]:
        """Plan the requests and the tasks that a run would refuse; raises the reason if all are."""
        together: PlannedConfigs = {task.location: {} for task in asking_tasks}
        sources, shapes = self._sources.with_planned(together), Shapes()
        refused: dict[str, list[Task]] = defaultdict(list)
        for task in asking_tasks:
            try:
                for plan in self._planners[task.step.key](sources, task.partition, {}):
                    shapes.add(plan, sources.images)
            except REFUSALS as why:
                refused[str(why)].append(Task(*task.location, {}))
                if sum(map(len, refused.values())) == len(asking_tasks):
                    raise
        return shapes, refused

    @cached_property
    def _planners(self) -> Planners:
        return build_step_planners(self._task_finder.steps)


def is_ready(task: JudgeTask, judge: Model, *, stand_ins: bool = False) -> bool:
    """Return whether a task can run; by default only stand-in judges get stand-ins' tasks."""
    return not task.missing_tables and (stand_ins or judge.is_stand_in or not task.is_stand_in)


def find_prerequisites(
    task_finder: JudgeTaskFinder,
    benchmark_tasks: BenchmarkTasks,
    judge: Model,
    *,
    stand_ins: bool = False,
) -> list[Prerequisite]:
    """Find the assets to make before all of a judge's tasks are ready, by partitions.

    Stand-ins' tasks are left out unless `stand_ins`, or for a stand-in judge.
    """
    lacking: dict[str, dict[TableLocation, None]] = {}
    for task in benchmark_tasks.tasks:
        if task.missing_tables and (stand_ins or judge.is_stand_in or not task.is_stand_in):
            lacking.setdefault(task.partition, {}).update(dict.fromkeys(task.missing_tables))
    locations_by_keys: dict[tuple[AssetKey, ...], dict[TableLocation, None]] = {}
    for locations in lacking.values():
        keys = tuple(dict.fromkeys(key for key, _ in locations))
        locations_by_keys.setdefault(keys, {}).update(locations)
    return [
        Prerequisite(
            keys,
            tuple(dict.fromkeys(partition for _, partition in locations)),
            tuple(dict.fromkeys(chain.from_iterable(map(task_finder.iterate_choices, locations)))),
        )
        for keys, locations in locations_by_keys.items()
    ]


def _find_warning(task: JudgeTask) -> str | None:
    return (
        None
        if task.rebuild_config is not None
        else task.step.forecast.warn(task.partition, task.step.config())
    )


def _count_missing(line: QuoteLine) -> int:
    return line.to_send + line.in_batch + line.unanswerable + line.follow_ups


def _format_alternatives(names: Sequence[str]) -> str:
    return " or ".join(f'key:"{name}"' for name in names)


def _build_group_key(
    benchmark: Benchmark, asking_tasks: Sequence[JudgeTask], task_finder: JudgeTaskFinder
) -> _GroupKey:
    """Build a key that judges with equal requests share: steps, example requests and inputs.

    Inputs that the judge makes itself count as the same; missing optional inputs are left out.
    """
    own_steps = {task.location: type(task.step) for task in asking_tasks}
    return benchmark.name, tuple(
        (
            type(task.step),
            task.step.example_request,
            frozenset(
                own_steps.get(location, location)
                for source, location in task_finder.iterate_inputs(task)
                if location in own_steps
                or not source.is_optional
                or task_finder.is_stored(location)
            ),
            task.partition,
        )
        for task in asking_tasks
    )
