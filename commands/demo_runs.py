"""The runs of stand-in runs, two at once: while one draws, another makes its tables."""

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, NoReturn, TextIO
from uuid import uuid4

import typer
from dagster import AssetKey, DagsterInstance, ExecuteInProcessResult

from assets.kit.benchmarks import StandInRun
from assets.kit.partitions import partition_tags
from commands.freshness import Freshness, digest_inputs
from commands.interruption import signal_log
from commands.tables import build_console
from resources.collections import collections_path
from resources.execution.dagster_internals import AssetGraph, set_pool_limits
from resources.settings.locations import find_data_root, find_models_path
from resources.settings.project_folder import find_project_folder
from resources.storage.atomic_writes import FilePath
from resources.user_files.taxonomy_file import find_taxonomy_path

_AT_ONCE = 2


class RunFailed(Exception):
    """A run of the demo has failed; the message says where and why."""


class AssetGroup(NamedTuple):
    """Group that runs belong to: the asset group, such as a benchmark, and its title."""

    name: str
    title: str


@dataclass(frozen=True, eq=False)
class _Planned:
    """A run, executed if needed after the runs that make its inputs."""

    part: AssetGroup
    partition: str | None
    keys: Sequence[AssetKey]
    config: Mapping[str, Any]
    sources: Set[AssetKey]
    """Assets that the run reads, of any partition, and does not make itself."""
    run_id: str = field(default_factory=lambda: str(uuid4()))

    def __str__(self) -> str:
        suffix = f", {self.partition}" if self.partition else ""
        return f"{self.part.title}{suffix}"


class DemoRunner:
    """Makes what is not up to date, in as few runs and steps as it takes, in this process."""

    def __init__(self, instance: DagsterInstance, design: Mapping[str, Any]) -> None:
        from definitions import defs
        from resources.settings.default_resources import build_default_resources

        self._instance, self._design = instance, design
        self._graph: AssetGraph = defs.resolve_asset_graph()
        self._job = defs.resolve_implicit_global_asset_job_def()
        root = find_data_root()
        config_files = (find_models_path(), find_taxonomy_path(), collections_path())
        discovered = root / "discovered.yaml"
        project = find_project_folder()
        photographs = [file for file in project.glob("photographs/**/*") if file.is_file()]
        edited: list[FilePath] = [*config_files, discovered, *project.glob("*.yaml"), *photographs]
        self._freshness = Freshness(
            instance,
            self._graph,
            build_default_resources(str(root))["images"],
            partial(digest_inputs, root, *edited),
        )

    def run(self, runs: Iterable[tuple[AssetGroup, StandInRun]]) -> int:
        """Do those of the runs that are needed, and say how many.

        Raises `RunFailed` once those that were under way beside the one that failed are over.
        """
        all_planned = [self._plan_run(*run) for run in runs]
        nodes = [self._graph.get(key) for planned in all_planned for key in planned.keys]
        set_pool_limits(self._instance, {pool for node in nodes for pool in node.pools or ()})
        waiting, run_count = [*all_planned], 0
        under_way: dict[Future[ExecuteInProcessResult], _Planned] = {}
        with (
            _hide_deprecations(),
            ThreadPoolExecutor(_AT_ONCE) as threads,
            build_console(errors=True).status("") as status,
        ):
            try:
                while waiting or under_way:
                    while len(under_way) < _AT_ONCE and (
                        planned := self._next(waiting, list(under_way.values()))
                    ):
                        waiting.remove(planned)
                        stale = self._freshness.find_stale(
                            planned.keys, planned.partition, planned.config
                        )
                        if stale:
                            under_way[threads.submit(self._run, planned, stale)] = planned
                            run_count += 1
                    status.update(" · ".join(map(str, under_way.values())))
                    for over in wait(under_way, return_when=FIRST_COMPLETED).done:
                        planned = under_way.pop(over)
                        if not over.result().success:
                            raise RunFailed(describe_failure(over.result(), str(planned)))
                        self._freshness.current_run_ids.add(planned.run_id)
            except KeyboardInterrupt:
                self._abandon(all_planned)
        self._freshness.confirm()
        return run_count

    def _plan_run(self, part: AssetGroup, run: StandInRun) -> _Planned:
        ops = {
            f"{part.name}__{name}": {"config": op_config} for name, op_config in run.config.items()
        }
        config = {
            "ops": ops,
            "resources": {"design": {"config": self._design}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        }
        keys = [AssetKey([part.name, name]) for name in run.assets]
        sources = set().union(*map(self._graph.get_ancestor_asset_keys, keys))
        return _Planned(
            part=part,
            partition=run.partition,
            keys=keys,
            config=config,
            sources=(sources | set(run.reads)) - set(keys),
        )

    def _next(self, waiting: Sequence[_Planned], under_way: Sequence[_Planned]) -> _Planned | None:
        """The first that starts from nothing that is still to be made.

        Benchmarks take turns, so that what lasts long is not left for the end; where runs wait for
        each other, the first one goes on.
        """
        ready = [
            candidate
            for candidate in waiting
            if not any(self._depends_on(candidate, other) for other in (*waiting, *under_way))
        ]
        busy = Counter(candidate.part for candidate in under_way)
        if ready:
            return min(ready, key=lambda candidate: busy[candidate.part])
        return None if under_way else next(iter(waiting), None)

    @staticmethod
    def _depends_on(run: _Planned, other: _Planned) -> bool:
        """Return whether a run reads anything that another run makes.

        Of one benchmark, assets of different partitions are made of different parts.
        """
        if run is other or run.sources.isdisjoint(other.keys):
            return False
        parts = [set(planned.partition.split("|")) for planned in (run, other) if planned.partition]
        disjoint = run.part == other.part and len(parts) == 2 and parts[0].isdisjoint(parts[1])
        return not disjoint

    def _run(self, planned: _Planned, keys: Sequence[AssetKey]) -> ExecuteInProcessResult:
        # Tags and not `partition_key`, which all assets of a run would have to share.
        partitions_defs = [self._graph.get(key).partitions_def for key in keys]
        partitions_def = max(
            partitions_defs, key=lambda candidate: hasattr(candidate, "partitions_defs")
        )
        run_tags = partition_tags(planned.partition, partitions_def) if planned.partition else {}
        return self._job.execute_in_process(
            instance=self._instance,
            tags=self._freshness.tags | run_tags,
            asset_selection=list(keys),
            run_config=planned.config,
            run_id=planned.run_id,
            raise_on_error=False,
        )

    def _abandon(self, all_planned: Iterable[_Planned]) -> NoReturn:
        """End this process at once, as no thread can be interrupted; what is finished is kept."""
        for planned in all_planned:
            run = self._instance.get_run_by_id(planned.run_id)
            if run and not run.is_finished:
                self._instance.report_run_canceled(run)
        typer.echo("Interrupted: what is finished is kept.", err=True)
        os._exit(signal_log.exit_code)


@contextmanager
def _hide_deprecations() -> Iterator[None]:
    """Hide each `DeprecationWarning`, as Python does by default.

    pandas shows them for a moment, and in all threads; of two that do so at once, one leaves it so.
    """
    with warnings.catch_warnings():
        show = warnings.showwarning

        def showwarning(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, DeprecationWarning):
                show(message, category, filename, lineno, file, line)

        warnings.showwarning = showwarning
        yield


def describe_failure(result: ExecuteInProcessResult, run_name: str) -> str:
    """Describe a run's failed steps and checks, and say where its log is."""
    lines = [f"{run_name} failed:"]
    for event in result.get_step_failure_events():
        error = event.step_failure_data.error
        cause = error.cause if error and error.cause else error
        lines.append(f"- {event.step_key}: {cause.message.strip() if cause else 'unknown'}")
    for event in result.filter_events(lambda event: event.is_job_failure):
        if error := event.job_failure_data.error:
            lines.append(f"- {(error.cause or error).message.strip()}")
    for check in result.get_asset_check_evaluations():
        if not check.passed:
            lines.append(f"\n{check.check_name}: {check.description}")
            if "wrong" in check.metadata:
                lines.append(str(check.metadata["wrong"].value))
    lines.append(f"The run is {result.run_id}: see its log in `counterfactory ui`.")
    return "\n".join(lines)
