"""Executors that tag a run with its process and refuse a config with misspelt names."""

from collections.abc import Iterator, Mapping
from typing import Any

from dagster import (
    DagsterEvent,
    DagsterRun,
    Executor,
    ExecutorDefinition,
    in_process_executor,
    multiprocess_executor,
)
from dagster._core.definitions.reconstruct import ReconstructableJob
from dagster._core.execution.context.system import PlanOrchestrationContext
from dagster._core.execution.plan.plan import ExecutionPlan
from dagster._core.execution.retries import RetryMode
from dagster._core.execution.step_dependency_config import StepDependencyConfig

from generators.nearest import nearest
from resources.processes import Process, process_of, this_process

PROCESS = "counterfactory/process"
"""The tag of a run that says in which process it is, as `process_of_run` reads it."""
_UNCHECKED = "__ASSET_JOB"
"""The job that materializes whatever is selected: of its config Dagster checks no names."""


class _Checking(Executor):
    """Another executor, once a run's process is noted and its config is found to be right."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    @property
    def retries(self) -> RetryMode:
        return self._executor.retries

    @property
    def step_dependency_config(self) -> StepDependencyConfig:
        return self._executor.step_dependency_config

    def execute(
        self, plan_context: PlanOrchestrationContext, execution_plan: ExecutionPlan
    ) -> Iterator[DagsterEvent]:
        """Raises `ValueError` where the run's config names what is not there, before any step."""
        if (process := this_process()) is not None:
            tags = {PROCESS: f"{plan_context.run_id} {process}"}
            plan_context.instance.add_run_tags(plan_context.run_id, tags)
        _require_known(plan_context)
        return self._executor.execute(plan_context, execution_plan)


def process_of_run(run: DagsterRun) -> Process | None:
    """The process of a run, or None before it is noted.

    A run that is executed again starts with the tags of the one before, and is another process.
    """
    run_id, _, written = run.tags.get(PROCESS, "").partition(" ")
    return process_of(written) if run_id == run.run_id else None


def _checking(executor: ExecutorDefinition) -> ExecutorDefinition:
    create: Any = executor.executor_creation_fn
    schema: Any = executor.config_schema
    return ExecutorDefinition(
        name=executor.name,
        config_schema=schema,
        requirements=executor.get_requirements,
        executor_creation_fn=lambda context: _Checking(create(context)),
        description=executor.description,
    )


in_process = _checking(in_process_executor)
"""The executor of runs of one step."""
multiprocess = _checking(multiprocess_executor)
"""The executor of all others: a process for each step."""


def _require_known(context: PlanOrchestrationContext) -> None:
    """Compare a config's names with those there are, where Dagster itself does not."""
    job = context.job
    if not context.job_name.startswith(_UNCHECKED) or not isinstance(job, ReconstructableJob):
        return
    location = job.get_repository_definition()
    assert location is not None
    assets = location.assets_defs_by_key.values()
    known = {
        "ops": {each.node_def.name for each in assets if each.is_executable},
        "resources": set(location.get_top_level_resources()),
    }
    for section, names in known.items():
        given = context.run_config.get(section)
        for name in given if isinstance(given, Mapping) else ():
            if name not in names:
                raise ValueError(
                    f"Run config: `{section}` has {name!r}, which is not there"
                    f"{nearest(name, sorted(names))}. Nothing was done: the run would have taken "
                    "the defaults instead."
                )
