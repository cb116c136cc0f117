"""The executor: tags runs with their process, refuses misspelt configs, starts few processes."""

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

from dagster import (
    DagsterEvent,
    DagsterExecutionInterruptedError,
    DagsterRun,
    Executor,
    ExecutorDefinition,
    multiprocess_executor,
)
from dagster._core.definitions.reconstruct import ReconstructableJob
from dagster._core.events import EngineEventData
from dagster._core.execution.api import ExecuteRunWithPlanIterable
from dagster._core.execution.context.system import PlanExecutionContext, PlanOrchestrationContext
from dagster._core.execution.context_creation_job import PlanExecutionContextManager
from dagster._core.execution.plan.execute_plan import inner_plan_execution_iterator
from dagster._core.execution.plan.instance_concurrency_context import InstanceConcurrencyContext
from dagster._core.execution.plan.plan import ExecutionPlan
from dagster._core.execution.retries import RetryMode
from dagster._core.execution.step_dependency_config import StepDependencyConfig
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._utils.interrupts import pop_captured_interrupt

from generators.name_suggestions import suggest_names
from resources.execution.process_identity import (
    ProcessIdentity,
    identify_this_process,
    parse_process,
)
from resources.user_files.edited_files import fallback_warnings

PROCESS_TAG = "counterfactory/process"
"""The tag of a run that says in which process it is, as `process_of_run` reads it."""
_LOOK_EVERY_S = 0.1
_UNCHECKED = "__ASSET_JOB"
"""The job that materializes whatever is selected: of its config Dagster checks no names."""


class _Settings(Executor):
    """Another executor's settings."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    @property
    def retries(self) -> RetryMode:
        return self._executor.retries

    @property
    def step_dependency_config(self) -> StepDependencyConfig:
        return self._executor.step_dependency_config


class _InThisProcess(_Settings):
    """Executes a plan in the process of its run, as Dagster's own does but for where it waits."""

    def execute(
        self, plan_context: PlanOrchestrationContext, execution_plan: ExecutionPlan
    ) -> Iterator[DagsterEvent]:
        pid = os.getpid()
        yield DagsterEvent.engine_event(
            plan_context,
            f"Executing steps in process (pid: {pid})",
            EngineEventData.in_process(pid, execution_plan.step_keys_to_execute),
        )
        yield from ExecuteRunWithPlanIterable(
            execution_plan,
            _execute,
            PlanExecutionContextManager(
                job=plan_context.job,
                execution_plan=execution_plan,
                run_config=plan_context.run_config,
                dagster_run=plan_context.dagster_run,
                instance=plan_context.instance,
                retry_mode=plan_context.retry_mode,
                raise_on_error=plan_context.raise_on_error,
                step_dependency_config=self.step_dependency_config,
            ),
        )


def _execute(
    job_context: PlanExecutionContext, execution_plan: ExecutionPlan
) -> Iterator[DagsterEvent]:
    with _Pools(job_context.instance, job_context.dagster_run) as pools:
        yield from inner_plan_execution_iterator(job_context, execution_plan, pools)


class _Pools(InstanceConcurrencyContext):
    """Places in pools; who waits for one can be terminated, and leaves the processor to others."""

    def claim(self, concurrency_key: str, step_key: str, step_priority: int = 0) -> bool:
        claimed = super().claim(concurrency_key, step_key, step_priority)
        if not claimed:
            if pop_captured_interrupt():
                raise DagsterExecutionInterruptedError
            time.sleep(_LOOK_EVERY_S)
        return claimed


class _Checking(_Settings):
    """Another executor, once a run's process is noted and its config is found to be right."""

    def execute(
        self, plan_context: PlanOrchestrationContext, execution_plan: ExecutionPlan
    ) -> Iterator[DagsterEvent]:
        """Raises `ValueError` where the run's config names what is not there, before any step."""
        if (process := identify_this_process()) is not None:
            tags = {PROCESS_TAG: f"{plan_context.run_id} {process}"}
            plan_context.instance.add_run_tags(plan_context.run_id, tags)
        for warning in fallback_warnings:
            plan_context.log.warning(warning)
        _require_known(plan_context)
        executor = self._executor
        if len(execution_plan.step_keys_to_execute) == 1 and _has_a_process(plan_context):
            executor = _InThisProcess(executor)
        return executor.execute(plan_context, execution_plan)


def find_process(run: DagsterRun) -> ProcessIdentity | None:
    """The process of a run, or None before it is noted.

    A run that is executed again starts with the tags of the one before, and is another process.
    """
    run_id, _, written = run.tags.get(PROCESS_TAG, "").partition(" ")
    return parse_process(written) if run_id == run.run_id else None


def _has_a_process(context: PlanOrchestrationContext) -> bool:
    """Return whether a run has a process for itself: a code server, which has its tag, starts it.

    What executes several runs goes on after each, which what a step leaves in memory, or its
    crash, would harm.
    """
    return GRPC_INFO_TAG in context.dagster_run.tags


_create: Any = multiprocess_executor.executor_creation_fn
_schema: Any = multiprocess_executor.config_schema
multiprocess = ExecutorDefinition(
    name=multiprocess_executor.name,
    config_schema=_schema,
    requirements=multiprocess_executor.get_requirements,
    executor_creation_fn=lambda context: _Checking(_create(context)),
    description=multiprocess_executor.description,
)
"""The executor of all jobs: a process for each step, or that of the run for its only one."""


def _require_known(context: PlanOrchestrationContext) -> None:
    """Compare a config's names with those there are, where Dagster itself does not."""
    job = context.job
    if not context.job_name.startswith(_UNCHECKED) or not isinstance(job, ReconstructableJob):
        return
    location = job.get_repository_definition()
    assert location is not None
    assets = location.assets_defs_by_key.values()
    names_by_section = {
        "ops": {asset.node_def.name for asset in assets if asset.is_executable},
        "resources": set(location.get_top_level_resources()),
    }
    for section, names in names_by_section.items():
        section_config = context.run_config.get(section)
        for name in section_config if isinstance(section_config, Mapping) else ():
            if name not in names:
                raise ValueError(
                    f"Run config: `{section}` has {name!r}, which is not there"
                    f"{suggest_names(name, sorted(names))}. Nothing was done: the run would have "
                    f"taken "
                    "the defaults instead."
                )
