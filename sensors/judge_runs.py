"""Judging: runs that have one judge answer every benchmark, then make what depends on that.

Each benchmark's part is on its own: where one fails, the others are finished. What is up to date,
and has all its answers, is left alone, so that a second go does the rest and pays nothing twice.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from dagster import AssetKey, DagsterEventType, partition_loading_context

from assets.kit.judge_tasks import JudgeTaskFinder, TableLocation
from assets.planning import Task
from assets.planning.judge_quote import BenchmarkQuote, JudgeQuote
from assets.planning.quote_text import list_refused
from resources.execution.dagster_internals import AssetGraph
from resources.faults import KeyNotSet, MissingPrice, OverBudget
from sensors.run_launcher import RunLauncher, SharedBudget, StepFailure
from sensors.run_plan import PlannedRun, plan_runs

JUDGE_TAG = "counterfactory/judge"
"""The tag of a run that is part of having one judge answer everything: the judge's name."""
_FINAL_ERROR = OverBudget.__name__
"""Error after which no model can be asked anything."""
_MODEL_ERRORS = (MissingPrice.__name__, KeyNotSet.__name__)
"""Errors after which one model cannot be asked."""


class JudgeRuns:
    """Runs that ask a judge everything; `messages` say why some were not begun."""

    def __init__(
        self,
        graph: AssetGraph,
        task_finder: JudgeTaskFinder,
        everything: JudgeQuote,
        spending: SharedBudget,
        **tags: str,
    ) -> None:
        self._instance, self._graph, self._task_finder = task_finder.instance, graph, task_finder
        tasks = [task for share in everything.benchmark_quotes for task in share.tasks]
        tags[JUDGE_TAG] = everything.scope.judge.name
        self.launcher = RunLauncher(
            task_finder.instance, task_finder.assets, tasks, {}, spending, tags
        )
        self._everything = everything
        self._lines = {
            (line.asset, line.partition): line
            for share in everything.benchmark_quotes
            for line in share.quote.lines
        }
        self._made_by_asset: dict[AssetKey, Mapping[str, int]] = {}
        self._has_begun = False
        self._other_ops = {key.to_python_identifier() for key in everything.other_judges_assets}
        self.messages: list[str] = [
            f"{share.benchmark.title}: {share.error}"
            for share in everything.benchmark_quotes
            if share.error
        ]
        self.messages += [
            f"Not begun: {whose}. {why}" for whose, why in list_refused(everything.refused_tasks)
        ]

    def select_runs(self) -> Iterator[PlannedRun]:
        """The runs that are needed, one after the other: the next depends on how this one ends."""
        for share in self._everything.benchmark_quotes:
            for stage in [] if share.error else self._plan_stages(share):
                for run in map(self._drop_unneeded, stage):
                    for part in self._split_run(run):
                        if part.assets and self._may_begin(part):
                            self._has_begun = True
                            yield part
                            self._made_by_asset.clear()
        # What was asked has changed the quotes as well, also where no report could be made of it.
        for run in self._plan_gathering():
            if self._has_begun or self._drop_unneeded(run).assets:
                yield run

    def _split_run(self, run: PlannedRun) -> Iterator[PlannedRun]:
        """Yield a run of the answers, then one of the dependent assets, if other judges are asked.

        The second run also follows where another judge could not be asked, without its answers.
        """
        asked_keys = [key for key in run.assets if key in self._task_finder.steps]
        if not any(key.to_python_identifier() in self._other_ops for key in asked_keys):
            yield run
            return
        before = len(self.launcher.failures)
        yield run._replace(assets=asked_keys)
        failed = self.launcher.failures[before:]
        why = [failure for failure in failed if failure.error]
        if not failed or (why and all(map(self._is_of_another, why))):
            yield run._replace(assets=[key for key in run.assets if key not in asked_keys])

    def _plan_gathering(self) -> Iterator[PlannedRun]:
        """Yield the runs of assets that read reports of several benchmarks."""
        reports = (
            AssetKey([share.benchmark.name, "report"])
            for share in self._everything.benchmark_quotes
        )
        over = {child for report in reports for child in self._graph.get(report).child_keys}
        yield from (PlannedRun("", [key]) for key in sorted(over))

    def _plan_stages(self, share: BenchmarkQuote) -> list[list[PlannedRun]]:
        """Plan a benchmark's runs: the judge's answers, then the assets that depend on them."""
        locations = [(task.asset, task.partition) for task in share.tasks]
        tasks = [
            Task(key, partition, {})
            for key, partition in (*locations, *self._find_following(locations))
        ]
        return plan_runs(self._graph, self._instance, tasks)

    def _find_following(self, locations: Sequence[TableLocation]) -> Iterator[TableLocation]:
        """The tables over all judges, and the reports, that depend on what is asked."""
        changed, groups = {*locations}, {key.path[0] for key, _ in locations}
        with partition_loading_context(dynamic_partitions_store=self._instance):
            for key in self._graph.toposorted_asset_keys:
                if key in self._task_finder.steps or key.path[0] not in groups:
                    continue
                for parent in self._graph.get(key).parent_keys:
                    for location in [candidate for candidate in changed if candidate[0] == parent]:
                        changed |= set(self._children(location, key))
                yield from sorted(location for location in changed if location[0] == key)

    def _children(self, location: TableLocation, key: AssetKey) -> Iterator[TableLocation]:
        children = self._graph.get_children_partitions(location[0], location[1] or None)
        for child in children:
            if child.asset_key == key:
                yield key, child.partition_key or ""

    def _drop_unneeded(self, run: PlannedRun) -> PlannedRun:
        """Keep only the assets that this run would change or make."""
        needed: list[AssetKey] = []
        for key in run.assets:
            location = key, run.partition
            if self._lacks_answers(location) or not self._is_current(location, needed):
                needed.append(key)
        return run._replace(assets=needed)

    def _lacks_answers(self, location: TableLocation) -> bool:
        line = self._lines.get((location[0].to_user_string(), location[1]))
        return line is not None and bool(
            line.requests > line.stored or line.follow_ups or line.missing_asset
        )

    def _is_current(self, location: TableLocation, making: Collection[AssetKey]) -> bool:
        """Return whether no input is newer than the table; the judge's own tables must exist."""
        key, partition = location
        with partition_loading_context(dynamic_partitions_store=self._instance):
            parents = self._graph.get_parents_partitions(key, partition or None).parent_partitions
        read = {(parent.asset_key, parent.partition_key or "") for parent in parents}
        if any(source in making and part == partition for source, part in read):
            return False
        event_id, input_event_ids = (
            self._find_latest_event(location),
            [*filter(None, map(self._find_latest_event, read))],
        )
        if key in self._task_finder.steps:
            is_there = self._task_finder.home.holds(key, partition or None)
            return is_there and event_id is not None and max(input_event_ids, default=0) < event_id
        return max(input_event_ids, default=0) <= (event_id or 0)

    def _find_latest_event(self, location: TableLocation) -> int | None:
        """Return the event number of the latest materialization; None without any."""
        key, partition = location
        if key not in self._made_by_asset:
            kind = DagsterEventType.ASSET_MATERIALIZATION
            by_partition = dict(self._instance.get_latest_storage_id_by_partition(key, kind))
            for record in self._instance.fetch_materializations(key, limit=1).records:
                by_partition.setdefault(record.partition_key or "", record.storage_id)
            self._made_by_asset[key] = by_partition
        return self._made_by_asset[key].get(partition)

    def _may_begin(self, run: PlannedRun) -> bool:
        """Return whether a run may begin: no requests are sent once nothing more can be paid."""
        if not self._asks(run.assets):
            return True
        why = next(filter(self._is_final, self.launcher.failures), None)
        if why is not None:
            names = ", ".join(key.to_user_string() for key in run.assets)
            run_name = ", ".join(filter(None, [names, run.partition]))
            self.messages.append(f"{run_name}: not asked, since {why.step} failed.")
        return why is None

    def _is_final(self, failed: StepFailure) -> bool:
        """Return whether this failure ends all requests; another judge's price or key does not."""
        of_model = failed.error in _MODEL_ERRORS and not self._is_of_another(failed)
        return failed.error == _FINAL_ERROR or of_model

    def _is_of_another(self, failed: StepFailure) -> bool:
        """Return whether the failure is that another judge could not be asked."""
        op = failed.step.partition(",")[0]
        return failed.error in _MODEL_ERRORS and op in self._other_ops

    def _asks(self, keys: Collection[AssetKey]) -> bool:
        steps = self._task_finder.steps
        return any(key in steps and steps[key].example_request is not None for key in keys)
