"""The executor of all jobs: Dagster's own, once a run's process is noted and its config checked."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from dagster import (
    DagsterEvent,
    DagsterRun,
    Executor,
    ExecutorDefinition,
    InitExecutorContext,
    RepositoryDefinition,
    in_process_executor,
    multiprocess_executor,
)

from generators.name_suggestions import suggest_names
from resources.execution.cores import count_cores
from resources.execution.dagster_internals import ASSET_JOB, GRPC_INFO_TAG, set_pool_limits
from resources.execution.process_identity import (
    ProcessIdentity,
    identify_this_process,
    parse_process,
)
from resources.user_files.edited_files import fallback_warnings

PROCESS_TAG = "counterfactory/process"
"""The tag of a run that says in which process it is, as `find_process` reads it."""
_MOST_STEPS = "DAGSTER_MULTIPROCESS_EXECUTOR_MAX_CONCURRENT"
"""Dagster's variable for steps at once where no config says it; its default counts all cores."""


class _CheckedExecutor(Executor):
    """Dagster's executors, preceded by the checks that start each run."""

    def __init__(
        self, context: InitExecutorContext, list_names: Callable[[], Mapping[str, Collection[str]]]
    ) -> None:
        os.environ.setdefault(_MOST_STEPS, str(count_cores()))
        self._multiprocess = _create(multiprocess_executor, context)
        self._in_process_executor = _create(in_process_executor, context)
        self._list_names = list_names

    @property
    def retries(self) -> Any:
        return self._multiprocess.retries

    @property
    def step_dependency_config(self) -> Any:
        return self._multiprocess.step_dependency_config

    def execute(self, plan_context: Any, execution_plan: Any) -> Iterator[DagsterEvent]:
        """Raises `ValueError` where the run's config names what is not there, before any step."""
        run: DagsterRun = plan_context.dagster_run
        if (process := identify_this_process()) is not None:
            tags = {PROCESS_TAG: f"{run.run_id} {process}"}
            plan_context.instance.add_run_tags(run.run_id, tags)
        for warning in fallback_warnings:
            plan_context.log.warning(warning)
        if run.job_name.startswith(ASSET_JOB):
            _require_known(run.run_config, self._list_names())
        steps = [execution_plan.get_step_by_key(key) for key in execution_plan.step_keys_to_execute]
        set_pool_limits(plan_context.instance, {step.pool for step in steps if step.pool})
        if len(steps) == 1 and not steps[0].pool and _has_own_process(run):
            return self._in_process_executor.execute(plan_context, execution_plan)
        return self._multiprocess.execute(plan_context, execution_plan)


def build_executor(list_names: Callable[[], Mapping[str, Collection[str]]]) -> ExecutorDefinition:
    """Build the executor of all jobs: a process for each step.

    The only step of a run is executed in the run's own process, unless it may have to wait for a
    pool, for which Dagster's executor in process keeps a core busy and hears no termination.

    `list_names` gives the names that a run's config may have, by section ("ops", "resources").
    """
    schema: Any = multiprocess_executor.config_schema
    return ExecutorDefinition(
        name=multiprocess_executor.name,
        config_schema=schema,
        requirements=multiprocess_executor.get_requirements,
        executor_creation_fn=lambda context: _CheckedExecutor(context, list_names),
        description=multiprocess_executor.description,
    )


def list_config_names(
    repository: RepositoryDefinition, resources: Collection[str]
) -> dict[str, set[str]]:
    """List the names that each section of a run's config may have."""
    executable = (asset for asset in repository.assets_defs_by_key.values() if asset.is_executable)
    return {"ops": {asset.node_def.name for asset in executable}, "resources": set(resources)}


def find_process(run: DagsterRun) -> ProcessIdentity | None:
    """The process of a run, or None before it is noted.

    A run that is executed again starts with the tags of the one before, and is another process.
    """
    run_id, _, written = run.tags.get(PROCESS_TAG, "").partition(" ")
    return parse_process(written) if run_id == run.run_id else None


def _create(definition: ExecutorDefinition, context: InitExecutorContext) -> Executor:
    create: Any = definition.executor_creation_fn
    executor: Executor = create(context)
    return executor


def _has_own_process(run: DagsterRun) -> bool:
    """Return whether a run has its own process: a code server, which has its tag, starts one.

    What executes several runs goes on after each, which what a step leaves in memory, or its
    crash, would harm.
    """
    return GRPC_INFO_TAG in run.tags


def _require_known(
    run_config: Mapping[str, Any], known_names: Mapping[str, Collection[str]]
) -> None:
    """Compare a config's names with those there are, where Dagster itself does not."""
    for section, names in known_names.items():
        configs = run_config.get(section)
        for name in configs if isinstance(configs, Mapping) else ():
            if name not in names:
                raise ValueError(
                    f"Run config: `{section}` has {name!r}, which is not there"
                    f"{suggest_names(name, sorted(names))}. Nothing was done: the run would have "
                    "taken the defaults instead."
                )
