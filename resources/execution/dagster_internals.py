"""Dagster internals without a public name, in one file, with the reason for each.

`tests/resources/execution/test_dagster_internals.py` holds each to what it is used for, so that a
new version of Dagster fails there first.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from dagster import (
    AssetKey,
    AssetsDefinition,
    DagsterEvent,
    DagsterInstance,
    DagsterRun,
    Executor,
    RepositoryDefinition,
)
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.definitions.decorators.op_decorator import DecoratedOpFunction
from dagster._core.definitions.reconstruct import ReconstructableJob, ReconstructableRepository
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.events import RunFailureReason
from dagster._core.execution.api import create_execution_plan, execute_run_iterator
from dagster._core.execution.backfill import BulkActionStatus
from dagster._core.execution.retries import RetryMode
from dagster._core.executor.step_delegating import StepDelegatingExecutor, StepHandler
from dagster._core.loader import LoadingContextForTest
from dagster._core.scheduler.instigation import InstigatorStatus
from dagster._core.snap import snap_to_yaml
from dagster._core.storage import sql
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from dagster._core.storage.tags import (
    BACKFILL_ID_TAG,
    GRPC_INFO_TAG,
    SCHEDULE_NAME_TAG,
    SENSOR_NAME_TAG,
)
from sqlalchemy import create_engine
from sqlalchemy.engine import Engine
from sqlalchemy.exc import IntegrityError

__all__ = ["BACKFILL_ID_TAG", "GRPC_INFO_TAG", "SCHEDULE_NAME_TAG", "SENSOR_NAME_TAG"]

AssetJob: TypeAlias = UnresolvedAssetJobDefinition
"""Type of what `dagster.define_asset_job` returns; Dagster exports no name for it."""

AssetGraph: TypeAlias = BaseAssetGraph[Any]
"""Type of `RepositoryDefinition.asset_graph`; Dagster exports no name for it."""

STORAGE_MODULE = "dagster._core.storage.sqlite_storage"
"""Module of Dagster's default storage: it names none to load once for all steps of a run, and to
load it takes each step 0.2 s."""

ASSET_JOB = "__ASSET_JOB"
"""Name of Dagster's own job of all assets; it does not check the names in its config."""

_CANCELLED_BACKFILL = (
    BulkActionStatus.CANCELING,
    BulkActionStatus.CANCELED,
    BulkActionStatus.FAILING,
    BulkActionStatus.FAILED,
)


class AssetRun(NamedTuple):
    """A run of assets in processes of its own.

    Dagster's `execute_job` tells neither the id nor any event of a run before it is over.
    """

    run: DagsterRun
    steps: int
    job: ReconstructableJob

    @classmethod
    def create(
        cls,
        instance: DagsterInstance,
        folder: str,
        assets: Collection[AssetKey],
        *,
        config: Mapping[str, Any],
        tags: Mapping[str, str],
    ) -> "AssetRun":
        """Create a run of `assets`, which other processes load from definitions.py in `folder`."""
        location = ReconstructableRepository.for_module("definitions", "defs", folder)
        selection = frozenset(assets)
        job = location.get_reconstructable_job(ASSET_JOB).get_subset(asset_selection=selection)
        plan = create_execution_plan(job, config, instance_ref=instance.get_ref())
        run = instance.create_run_for_job(
            job_def=job.get_definition(),
            execution_plan=plan,
            run_config=config,
            tags=tags,
            asset_selection=selection,
            job_code_origin=job.get_python_origin(),
        )
        return cls(run=run, steps=len(plan.step_keys_to_execute), job=job)

    def execute(self, instance: DagsterInstance) -> Iterator[DagsterEvent]:
        """Execute the run, and yield its events as they come."""
        return execute_run_iterator(self.job, self.run, instance)


class Staleness:
    """Dagster's own account of what is out of date, which only its web pages show publicly.

    One object answers from what it has read: make a new one after a run.
    """

    def __init__(self, instance: DagsterInstance, graph: AssetGraph) -> None:
        context = LoadingContextForTest(instance)
        self._resolver = CachingStaleStatusResolver(instance, graph, context)

    def is_fresh(self, key: AssetKey, partition: str | None) -> bool:
        """Return whether today's code made the partition from today's versions of its inputs."""
        return self._resolver.get_status(key, partition) is StaleStatus.FRESH


def create_delegating_executor(handler: StepHandler, max_concurrent: int) -> Executor:
    """Create the executor that launches steps elsewhere, as dagster-ray's own does.

    Dagster's packages use it; it has no public name.
    """
    return StepDelegatingExecutor(
        handler,
        retries=RetryMode.ENABLED,
        max_concurrent=max_concurrent,
        should_verify_step=True,
    )


def find_config_class(asset: AssetsDefinition) -> type[Any] | None:
    """Return the class of an asset's config, which validates more than the schema made of it."""
    compute = asset.op.compute_fn
    if not isinstance(compute, DecoratedOpFunction) or not compute.has_config_arg():
        return None
    config_class: type[Any] = compute.get_config_arg().annotation
    return config_class


def find_code_modules(asset: AssetsDefinition) -> set[str]:
    """Return the modules of an asset's function, and of what it was made with, as a step's class.

    An `AssetsDefinition` keeps its function private.
    """
    compute = asset.op.compute_fn
    function: Any = compute.decorated_fn if isinstance(compute, DecoratedOpFunction) else compute
    values = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    classes = {base for value in values for base in type(value).__mro__}
    return {
        item.__module__ for item in (function, *values, *classes) if hasattr(item, "__module__")
    }


def find_stopped_launchers(instance: DagsterInstance, run: DagsterRun) -> set[str]:
    """Return the names of sensors and schedules that a user turned off, of a run's code location.

    Another code location, as one of the same file started by another command, has its own switches.
    """
    origin = run.remote_job_origin
    states = instance.all_instigator_state(
        repository_selector_id=origin.repository_origin.get_selector_id() if origin else None,
        instigator_statuses={InstigatorStatus.STOPPED},
    )
    return {state.instigator_name for state in states}


def is_backfill_cancelled(instance: DagsterInstance, run: DagsterRun) -> bool:
    """Return whether a run belongs to a backfill that was cancelled or failed.

    Dagster cancels the runs of a backfill one after the other, which takes up to a minute.
    """
    backfill = instance.get_backfill(run.tags.get(BACKFILL_ID_TAG, ""))
    return backfill is not None and backfill.status in _CANCELLED_BACKFILL


def is_interruption(event: DagsterEvent) -> bool:
    """Return whether an event reports a signal to a run's process; Dagster raises nothing then."""
    if event.event_type_value == "PIPELINE_FAILURE":
        return event.job_failure_data.failure_reason is RunFailureReason.UNEXPECTED_TERMINATION
    return event.event_type_value == "PIPELINE_CANCELED"


def share_database_engines() -> None:
    """Let Dagster's SQLite storage make one engine a database in this process, not one an event.

    Where steps are short that is a third of a run's processor time, and no setting changes it.
    """

    engines: dict[str, Engine] = {}

    def create_once(address: str, **options: Any) -> Engine:
        if address not in engines:
            engines[address] = create_engine(address, **options)
        return engines[address]

    for module in (sqlite_event_log, sqlite_run_storage):
        vars(module)["create_engine"] = create_once


def read_migrations_once() -> None:
    """Let Dagster read its migrations once in this process, not twice for each run's database."""
    module: Any = sql
    module.ScriptDirectory.from_config = cache(module.ScriptDirectory.from_config)


def prepare_forked_steps(repository: RepositoryDefinition) -> None:
    """Load, in the process from which steps are forked, what each of them would load by itself.

    That is Dagster's migrations, one engine a database, and its job of all assets: a quarter of the
    processor time of a step that does little.
    """
    share_database_engines()
    read_migrations_once()
    untyped_sql: Any = sql
    for module in (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage):
        config = sql.get_alembic_config(vars(module)["__file__"])
        untyped_sql.ScriptDirectory.from_config(config).as_revision_number("head")
    repository.get_job(ASSET_JOB)


def look_for_tables_once(instance: DagsterInstance) -> None:
    """Let an instance look once for each table and column of its event log, not with each event.

    PostgreSQL is asked over a second connection, while the first one is in use.
    """
    storage = instance.event_log_storage
    for method in ("has_table", "has_asset_key_col"):
        vars(storage)[method] = cache(getattr(storage, method))


def set_pool_limits(instance: DagsterInstance, pools: Collection[str]) -> None:
    """Give pools the default limit of the instance, unless a user has given them another.

    The claim of a place would do so, but on PostgreSQL it fails where another claim was first, or
    the default has changed: it updates in the transaction in which its insert has failed. A limit
    set here looks like a user's: what it was set to is noted, to tell them apart.
    """
    storage, notes = instance.event_log_storage, instance.daemon_cursor_storage
    if not pools or not storage.supports_global_concurrency_limits:
        return
    default = instance.global_op_concurrency_default_limit
    limits = {limit.name: limit for limit in storage.get_pool_limits()}
    for pool in pools:
        limit, key = limits.get(pool), f"counterfactory/default_limit/{pool}"
        if (
            limit is not None
            and not limit.from_default
            and (
                limit.limit == default or notes.get_cursor_values({key}) != {key: f"{limit.limit}"}
            )
        ):
            continue
        if default is not None:
            try:
                storage.set_concurrency_slots(pool, default)
            except IntegrityError:  # Another process has created it meanwhile.
                storage.set_concurrency_slots(pool, default)
            notes.set_cursor_values({key: str(default)})
        elif limit is not None:
            storage.delete_concurrency_limit(pool)


def read_log_handlers_once(instance: DagsterInstance) -> None:
    """Let an instance set up the log handlers of its settings now, and in no run from then on.

    Python holds its lock of all logging meanwhile and closes every handler: of two runs at once in
    one process, each waits for the other without end.
    """
    handlers = instance.get_yaml_python_handlers()
    vars(instance)["get_yaml_python_handlers"] = lambda: handlers


def scaffold_null_defaults() -> None:
    """Let the launchpad scaffold fields without a value by default as well, as a limit.

    Dagster leaves them out, and says that all defaults are there: nobody sees what could be set.
    """
    drop_empty: Any = vars(snap_to_yaml)["_filter_empty_dicts"]

    def keep_nulls(values: Any, *snaps: Any) -> Any:
        filtered = drop_empty(values, *snaps)
        if not isinstance(values, Mapping):
            return filtered
        return {key: filtered.get(key) for key in values if key in filtered or values[key] is None}

    vars(snap_to_yaml)["_filter_empty_dicts"] = keep_nulls


def run_dagster_dev(arguments: Sequence[str], modules: dict[str, str]) -> None:
    """Run `dagster dev` with other modules in place of those that it starts as processes.

    It has no option for a webserver of one's own, and no other command runs webserver, daemon and
    code server together. `modules` gives the replacement of each module that it may start.
    """
    from dagster._cli import dev  # noqa: PLC0415 - 0.3 s, which other commands need not wait for

    names = vars(dev)
    start_process = names["open_ipc_subprocess"]

    def start_replaced(command: Sequence[str], **options: Any) -> Any:
        python, option, module, *rest = command
        return start_process([python, option, modules[module], *rest], **options)

    names["open_ipc_subprocess"] = start_replaced
    dev.dev_command([*arguments], prog_name="counterfactory ui", standalone_mode=False)
