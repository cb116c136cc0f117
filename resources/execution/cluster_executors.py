"""Executors that launch each step on a cluster: as a job of Ray, or as a pod of Kubernetes."""

import sys
from importlib import import_module
from importlib.util import find_spec
from os import environ, pathsep
from pathlib import Path
from typing import Any

from dagster import (
    Executor,
    ExecutorDefinition,
    Field,
    InitExecutorContext,
    multiprocess_executor,
)

from resources.execution.cores import count_cores
from resources.execution.dagster_internals import create_delegating_executor
from resources.execution.ray_cluster import (
    ADDRESS_VARIABLE,
    find_ray_address,
    list_settings,
    require_listener,
)

_STEP_BYTES = 2**30
"""Memory that a step reserves. A job that reserves nothing is run on the head node alone; one that
reserves a CPU would keep it from the step's own tasks."""


def build_ray_executor() -> ExecutorDefinition:
    """Build the executor of dagster-ray, with the settings of this project.

    Its own reads `max_concurrent`, which its schema refuses. Raises `ValueError` without the extra
    `ray`, and without an address of a cluster.
    """
    _require_package("dagster_ray", "ray")
    if not find_ray_address():
        raise ValueError(
            f"The executor ray needs a cluster: set {ADDRESS_VARIABLE} to the address of its head, "
            "host:port."
        )
    return ExecutorDefinition(
        name="ray",
        config_schema={
            "max_concurrent": Field(
                int,
                is_required=False,
                description="Steps of a run at once. Default: the cores of the run's process.",
            )
        },
        requirements=multiprocess_executor.get_requirements,
        executor_creation_fn=_create_ray_executor,
        description="A job of Ray for each step.",
    )


def build_k8s_executor() -> ExecutorDefinition:
    """Load the executor of dagster-k8s; raises `ValueError` without the extra `k8s`."""
    _require_package("dagster_k8s", "k8s")
    definition: ExecutorDefinition = import_module("dagster_k8s").k8s_job_executor
    return definition


def _create_ray_executor(context: InitExecutorContext) -> Executor:
    address = find_ray_address()
    require_listener(address)
    environ["RAY_USAGE_STATS_ENABLED"] = "0"
    config: Any = context.executor_config
    handler = import_module("dagster_ray.core.executor").RayStepHandler(
        client=import_module("ray.job_submission").JobSubmissionClient(address),
        env_vars=None,
        runtime_env={"env_vars": _list_step_variables()},
        num_cpus=None,
        num_gpus=None,
        memory=_STEP_BYTES,
        # A dictionary given here would collect the resources of every step.
        resources=None,
    )
    return create_delegating_executor(handler, config.get("max_concurrent", count_cores()))


def _list_step_variables() -> dict[str, str]:
    """Collect what a step needs of this process's environment, which Ray does not hand on."""
    variables = list_settings("COUNTERFACTORY_", "DAGSTER_")
    programs = str(Path(sys.executable).parent)
    return variables | {"PATH": pathsep.join([programs, environ.get("PATH", "")])}


def _require_package(module: str, extra: str) -> None:
    if find_spec(module) is None:
        raise ValueError(
            f"The executor {extra} needs {module.replace('_', '-')}. Install it: "
            f"pip install 'counterfactory[{extra}]'"
        )
