"""`counterfactory run`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.options import Config, Partitions, Select, listed, read_config
from commands.tables import columns, console, print_table

if TYPE_CHECKING:
    from dagster import DagsterEvent, DagsterInstance
    from rich.progress import Progress, TaskID

    from assets.planning import Task
    from commands.planning import PlannedRun

_EVERY_S = 2.0
_ENDED = ("STEP_SUCCESS", "STEP_FAILURE", "STEP_SKIPPED")


def run(
    select: Select,
    partitions: Partitions = None,
    config: Config = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="The most that all of it may spend."),
    ] = None,
) -> None:
    """Materialize assets, as the UI does: one partition a run, with all checks.

    Ends with exit code 1 if a run or a blocking check fails. Example:

        counterfactory run vlmbias/answers_gpt_4_1 --partitions flags --budget 2
    """
    from dagster import DagsterInstance

    from assets.kit.partitions import add_painters
    from assets.planning import choose_all
    from commands.planning import planned
    from definitions import catalog, defs

    given = read_config(config)
    resources = _resources(given.pop("resources", {}))
    with DagsterInstance.get() as instance:
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        tasks = choose_all(assets, instance, select, listed(partitions), given)
        stages = planned(defs.resolve_asset_graph(), instance, tasks)
        done = _Materialization(instance, tasks, resources, budget)
        with _progress() as progress:
            whole = progress.add_task("runs", total=sum(map(len, stages)))
            for stage in stages:
                for each in stage:
                    done.execute(each, progress)
                    progress.advance(whole)
                if done.failures:
                    break
    print_table(done.table())
    for line in (*done.told, *done.failures):
        typer.echo(line, err=True)
    if done.failures or done.told:
        raise typer.Exit(1)


def _resources(given: Any) -> dict[str, Any]:
    """The config of resources; raises `ValueError` for one that there is none of."""
    from definitions import resources
    from generators.nearest import nearest

    for name in given if isinstance(given, Mapping) else ["resources"]:
        if name not in resources:
            among = nearest(name, sorted(resources))
            raise ValueError(f"The config names the resource {name!r}, which is not there{among}.")
    return dict(given)


class _Materialization:
    """Executes runs, and keeps what they said: what was made, `failures`, and what checks `told`.

    That is of checks that have not passed and stop nothing, as where requests failed.
    """

    def __init__(
        self,
        instance: "DagsterInstance",
        tasks: "Iterable[Task]",
        resources: Mapping[str, Any],
        budget: float | None,
    ) -> None:
        self._instance, self._resources, self._budget = instance, resources, budget
        self._configs = {task.asset: task.config for task in tasks}
        self._made: list[tuple[str, str, Mapping[str, Any]]] = []
        self._runs: list[str] = []
        self.failures: list[str] = []
        self.told: list[str] = []

    def execute(self, planned: "PlannedRun", progress: "Progress") -> None:
        """Do a run in processes of its own, as the UI does."""
        from dagster._core.execution.api import create_execution_plan, execute_run_iterator

        job, config = _job(planned), self._config(planned)
        plan = create_execution_plan(job, config, instance_ref=self._instance.get_ref())
        run = self._instance.create_run_for_job(
            job_def=job.get_definition(),
            execution_plan=plan,
            run_config=config,
            tags=_tags(planned),
            asset_selection=frozenset(planned.assets),
            job_code_origin=job.get_python_origin(),
        )
        self._runs.append(run.run_id)
        name = planned.partition or planned.assets[0].path[0]
        task = progress.add_task(name, total=len(plan.step_keys_to_execute))
        with _following(self._instance, run.run_id, progress, task, name):
            for event in execute_run_iterator(job, run, self._instance):
                self._note(event, planned.partition)
                if event.event_type_value in _ENDED:
                    progress.advance(task)
        progress.remove_task(task)
        finished = self._instance.get_run_by_id(run.run_id)
        if finished is None or not finished.is_success:
            self.failures.append(f"{name}: the run {run.run_id} failed: see its log in `make ui`.")

    def table(self) -> Any:
        """By asset and partition: rows, requests, dollars; with the sums."""
        table = columns("asset", "partition", "rows>", "sent>", "known>", "spent>")
        for asset, partition, said in self._made:
            table.add_row(asset, partition, *_numbers(said))
        if len(self._made) > 1:
            table.add_section()
            table.add_row("all", "", *_numbers(self._sums()))
        return table

    def _sums(self) -> dict[str, Any]:
        sums = Counter[str]()
        for *_, said in self._made:
            sums.update({name: said.get(name, 0) for name in _COUNTED})
        spent = [said["spent_usd"] for *_, said in self._made if "spent_usd" in said]
        known = None if "unknown" in spent else sum(spent)
        return {**sums, "spent_usd": "unknown" if known is None else known}

    def _config(self, planned: "PlannedRun") -> dict[str, Any]:
        ops = {
            key.to_python_identifier(): {"config": dict(of)}
            for key in planned.assets
            if (of := self._configs[key])
        }
        resources = dict(self._resources)
        if self._budget is not None:
            own = dict(resources.get("budget", {}).get("config", {}))
            limits = [self._budget - self._paid(), own.get("per_run_usd"), _default_budget()]
            own["per_run_usd"] = max(0.0, min(each for each in limits if each is not None))
            resources["budget"] = {"config": own}
        quiet = {"console": {"config": {"log_level": "CRITICAL"}}}
        return {"ops": ops, "resources": resources, "loggers": quiet}

    def _paid(self) -> float:
        """What was spent, or may have been, by runs that failed as well."""
        from commands.environment import stores
        from resources.calls.spending import NANO

        if not self._runs:
            return 0.0
        with stores(self._instance, "models") as known:
            nano: int = known.models.calls.spent_by(self._runs)
        return nano / NANO

    def _note(self, event: "DagsterEvent", partition: str) -> None:
        if event.is_step_materialization:
            made = event.step_materialization_data.materialization
            said = {name: value.value for name, value in made.metadata.items()}
            self._made.append((made.asset_key.to_user_string(), partition, said))
        elif event.event_type_value == "ASSET_CHECK_EVALUATION":
            found = event.asset_check_evaluation_data
            if not (found.passed or found.blocking) and found.severity.value == "ERROR":
                what = ", ".join(filter(None, [found.asset_key.to_user_string(), partition]))
                self.told.append(f"{what}: {found.check_name}: {found.description}")
        elif event.is_step_failure:
            error = event.step_failure_data.error
            cause = error.cause if error and error.cause else error
            self.failures.append(f"{event.step_key}: {cause.message.strip() if cause else event}")


_COUNTED = ("dagster/row_count", "requests_sent", "requests_known_before")


def _numbers(said: Mapping[str, Any]) -> list[str]:
    counts = [f"{said[name]:,}" if name in said else "" for name in _COUNTED]
    spent = said.get("spent_usd", "")
    return [*counts, f"${spent:,.4f}" if isinstance(spent, int | float) else spent]


def _default_budget() -> float | None:
    from definitions import resources

    limit: float | None = resources["budget"].per_run_usd
    return limit


def _job(planned: "PlannedRun") -> Any:
    """The job of the code location that materializes those assets, for other processes to load."""
    from dagster._core.definitions.reconstruct import ReconstructableRepository

    from commands.environment import ROOT

    location = ReconstructableRepository.for_module("definitions", "defs", str(ROOT))
    job = location.get_reconstructable_job("__ASSET_JOB")
    return job.get_subset(asset_selection=frozenset(planned.assets))


def _tags(planned: "PlannedRun") -> dict[str, str]:
    from assets.kit.partitions import tags_of
    from definitions import by_key

    if not planned.partition:
        return {}
    return tags_of(planned.partition, by_key[planned.assets[0]].partitions_def)


def _progress() -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}")
    bars = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*bars, console=console(errors=True))


@contextmanager
def _following(
    instance: "DagsterInstance", run_id: str, progress: "Progress", task: "TaskID", name: str
) -> Iterator[None]:
    """Show what the steps of a run say of themselves, meanwhile."""
    over = Event()

    def follow() -> None:
        cursor: str | None = None
        while not over.wait(_EVERY_S):
            news = instance.get_records_for_run(run_id, cursor)
            cursor = news.cursor
            told = [
                each.event_log_entry.user_message
                for each in news.records
                if each.event_log_entry.dagster_event is None
            ]
            if told:
                progress.update(task, description=f"{name}: {told[-1]}")

    thread = Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
