"""The executor of all jobs: one of Dagster's, after the checks that start each run."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

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
from resources.execution.cluster_executors import build_k8s_executor, build_ray_executor
from resources.execution.cores import count_cores
from resources.execution.dagster_internals import ASSET_JOB, GRPC_INFO_TAG, set_pool_limits
from resources.execution.process_identity import (
    ProcessIdentity,
    identify_this_process,
    parse_process,
)
from resources.execution.run_heartbeat import beat, build_heartbeat
from resources.user_files.edited_files import fallback_warnings

EXECUTOR_VARIABLE = "COUNTERFACTORY_EXECUTOR"
"""Environment variable for the executor: multiprocess (the default), in_process, ray or k8s."""
PROCESS_TAG = "counterfactory/process"
"""The tag of a run that says in which process it is, as `find_process` reads it."""
_MOST_STEPS = "DAGSTER_MULTIPROCESS_EXECUTOR_MAX_CONCURRENT"
"""Dagster's variable for steps at once where no config says it; its default counts all cores."""

ConfigNames: TypeAlias = Callable[[], Mapping[str, Collection[str]]]
"""Loads the names that a run's config may have, by section ("ops", "resources")."""


class _CheckedExecutor(Executor):
    """One of Dagster's executors, preceded by the checks that start each run."""

    def __init__(self, executor: Executor, load_names: ConfigNames) -> None:
        self.executor = executor
        self._load_names = load_names

    @property
    def retries(self) -> Any:
        return self.executor.retries

    @property
    def step_dependency_config(self) -> Any:
        return self.executor.step_dependency_config

    def execute(self, plan_context: Any, execution_plan: Any) -> Iterator[DagsterEvent]:
        """Raises `ValueError` where the run's config names what is not there, before any step."""
        run: DagsterRun = plan_context.dagster_run
        tags = build_heartbeat(run.run_id, 0)
        if (process := identify_this_process()) is not None:
            tags[PROCESS_TAG] = f"{run.run_id} {process}"
        plan_context.instance.add_run_tags(run.run_id, tags)
        for warning in fallback_warnings:
            plan_context.log.warning(warning)
        if run.job_name.startswith(ASSET_JOB):
            _require_known(run.run_config, self._load_names())
        steps = [execution_plan.get_step_by_key(key) for key in execution_plan.step_keys_to_execute]
        set_pool_limits(plan_context.instance, {step.pool for step in steps if step.pool})
        with beat(plan_context.instance, run.run_id):
            yield from self._select_executor(run, steps).execute(plan_context, execution_plan)

    def _select_executor(self, run: DagsterRun, steps: Sequence[Any]) -> Executor:
        return self.executor


class _MultiprocessExecutor(_CheckedExecutor):
    """A process for each step, except for the only step of a run, which is executed in the run's.

    Unless it may have to wait for a pool, for which Dagster's executor in process keeps a core busy
    and hears no termination.
    """

    def __init__(self, context: InitExecutorContext, load_names: ConfigNames) -> None:
        os.environ.setdefault(_MOST_STEPS, str(count_cores()))
        super().__init__(_create(multiprocess_executor, context), load_names)
        self._in_process_executor = _create(in_process_executor, context)

    def _select_executor(self, run: DagsterRun, steps: Sequence[Any]) -> Executor:
        if len(steps) == 1 and not steps[0].pool and _has_own_process(run):
            return self._in_process_executor
        return self.executor


def build_executor(load_names: ConfigNames, preloaded: Sequence[str]) -> ExecutorDefinition:
    """Build the executor of all jobs, which COUNTERFACTORY_EXECUTOR names.

    `preloaded` are the modules of the process from which multiprocess forks steps. Raises
    `ValueError` for an unknown name, and for one whose package is not installed.
    """
    name = os.environ.get(EXECUTOR_VARIABLE) or "multiprocess"
    if name not in _BUILDERS:
        raise ValueError(
            f"{EXECUTOR_VARIABLE}: there is no executor {name!r}{suggest_names(name, _BUILDERS)}. "
            f"Set it to one of: {', '.join(_BUILDERS)}."
        )
    return _BUILDERS[name](load_names, preloaded)


def _build_multiprocess(load_names: ConfigNames, preloaded: Sequence[str]) -> ExecutorDefinition:
    definition = _define(
        multiprocess_executor, lambda context: _MultiprocessExecutor(context, load_names)
    )
    return definition.configured(
        {"start_method": {"forkserver": {"preload_modules": [*preloaded]}}}
    )


def _build_checked(
    build: Callable[[], ExecutorDefinition],
) -> Callable[[ConfigNames, Sequence[str]], ExecutorDefinition]:
    def build_checked(load_names: ConfigNames, _preloaded: Sequence[str]) -> ExecutorDefinition:
        definition = build()
        return _define(
            definition,
            lambda context: _CheckedExecutor(_create(definition, context), load_names),
        )

    return build_checked


_BUILDERS = {
    "multiprocess": _build_multiprocess,
    "in_process": _build_checked(lambda: in_process_executor),
    "ray": _build_checked(build_ray_executor),
    "k8s": _build_checked(build_k8s_executor),
}


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


def _define(
    definition: ExecutorDefinition, create: Callable[[InitExecutorContext], Executor]
) -> ExecutorDefinition:
    """Define an executor that is another one to Dagster: its name, schema and requirements."""
    schema: Any = definition.config_schema
    return ExecutorDefinition(
        name=definition.name,
        config_schema=schema,
        requirements=definition.get_requirements,
        executor_creation_fn=create,
        description=definition.description,
    )


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
