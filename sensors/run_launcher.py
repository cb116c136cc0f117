"""Materialization from outside the UI: runs in processes of their own, within one budget."""

import logging
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dagster import (
    DagsterEvent,
    DagsterExecutionInterruptedError,
    DagsterInstance,
)

from assets.kit.partitions import partition_tags
from assets.planning import Task
from assets.planning.quote_selection import AssetsByKey
from resources.calls.spending import NANO
from resources.execution.dagster_internals import AssetRun, is_interruption
from resources.settings.project_folder import CODE_FOLDER
from sensors.interrupted_runs import end_interrupted
from sensors.run_plan import PlannedRun

_QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


class BegunRun(NamedTuple):
    """A run that is about to be executed."""

    execution: AssetRun
    planned: PlannedRun

    @property
    def run_id(self) -> str:
        """Dagster's id of the run."""
        return self.execution.run.run_id

    @property
    def name(self) -> str:
        """Name of the run in messages: its partition, else its benchmark."""
        return self.planned.partition or self.planned.assets[0].path[0]


class MaterializedPartition(NamedTuple):
    """A partition of an asset that a run has made, and what its metadata say."""

    asset: str
    partition: str
    metadata: Mapping[str, Any]


class StepFailure(NamedTuple):
    """Failure of a run's step; `error` names the error's class."""

    step: str
    error: str
    message: str

    def __str__(self) -> str:
        return f"{self.step}: {self.message}"


class SharedBudget(NamedTuple):
    """Budget that runs share, and the budget of each single run.

    `load_spent_nano` returns the most that some runs can have spent, in billionths of a dollar.
    """

    total_usd: float | None
    per_run_usd: float | None
    load_spent_nano: Callable[[Sequence[str]], int]


class RunLauncher:
    """Executes runs; keeps what they `materialized`, their `failures` and their `failed_checks`.

    Failed checks are also those that stop nothing, as where requests failed. `warnings` are those
    of the runs' logs and of checks, as of rows that were rejected.
    """

    def __init__(
        self,
        instance: DagsterInstance,
        assets: AssetsByKey,
        tasks: Iterable[Task],
        resources: Mapping[str, Any],
        spending: SharedBudget,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        self._instance, self._assets, self._spending = instance, assets, spending
        self._resources, self._tags = resources, tags or {}
        self._configs = {task.asset: task.config for task in tasks}
        self.run_ids: list[str] = []
        self.materialized: list[MaterializedPartition] = []
        self.failures: list[StepFailure] = []
        self.failed_checks: list[str] = []
        self.warnings: list[str] = []
        # Killed runs would keep their places in pools, for which these would wait in vain.
        deque(end_interrupted(instance), maxlen=0)

    def begin(self, planned: PlannedRun) -> BegunRun:
        """Create a run, which `events` executes."""
        partitions_def = self._assets[planned.assets[0]].partitions_def
        tags = partition_tags(planned.partition, partitions_def) if planned.partition else {}
        execution = AssetRun.create(
            self._instance,
            str(CODE_FOLDER),
            planned.assets,
            config=self._config(planned),
            tags={**self._tags, **tags},
        )
        self.run_ids.append(execution.run.run_id)
        return BegunRun(execution, planned)

    def events(self, begun: BegunRun) -> Iterator[DagsterEvent]:
        """Do a run in processes of its own, as the UI does; its events, as they come.

        Raises `DagsterExecutionInterruptedError` once a run that was interrupted has ended: Dagster
        itself only notes that, and the next run would begin.
        """
        is_interrupted = False
        for event in begun.execution.execute(self._instance):
            self._note(event, begun.planned.partition)
            is_interrupted |= is_interruption(event)
            yield event
        self.warnings += self._find_logged_warnings(begun)
        if is_interrupted:
            raise DagsterExecutionInterruptedError
        finished = self._instance.get_run_by_id(begun.run_id)
        if finished is None or not finished.is_success:
            message = f"the run {begun.run_id} failed: see its log in `counterfactory ui`."
            self.failures.append(StepFailure(begun.name, "", message))

    @property
    def report_paths(self) -> list[str]:
        """Files of the reports that the runs made, each once."""
        paths = (
            table.metadata.get("path") for table in self.materialized if "report" in table.metadata
        )
        return list(dict.fromkeys(str(path) for path in paths))

    @property
    def spent_by_failed_usd(self) -> float:
        """Dollars that were spent, or may have been, and are in no table that was made."""
        total = self._spending.load_spent_nano(self.run_ids) / NANO if self.run_ids else 0.0
        numbers = (
            table.metadata.get(name)
            for table in self.materialized
            for name in ("spent_usd", "possibly_spent_usd")
        )
        table_dollars = sum(number for number in numbers if isinstance(number, int | float))
        # To the millionth: the sums of metadata are rounded.
        return max(0.0, round(total - table_dollars, 6))

    def _find_logged_warnings(self, begun: BegunRun) -> Iterator[str]:
        for record in self._instance.all_logs(begun.run_id):
            if record.dagster_event is None and record.level == logging.WARNING:
                yield f"{begun.name}: {record.user_message}"

    def _config(self, planned: PlannedRun) -> dict[str, Any]:
        ops = {
            key.to_python_identifier(): {"config": dict(op_config)}
            for key in planned.assets
            if (op_config := self._configs.get(key))
        }
        resources, (budget, per_run, spent_by) = dict(self._resources), self._spending
        if budget is not None:
            budget_config = dict(resources.get("budget", {}).get("config", {}))
            remaining = budget - (spent_by(self.run_ids) / NANO if self.run_ids else 0.0)
            limits = [remaining, budget_config.get("per_run_usd"), per_run]
            budget_config["per_run_usd"] = max(
                0.0, min(limit for limit in limits if limit is not None)
            )
            resources["budget"] = {"config": budget_config}
        return {"ops": ops, "resources": resources, "loggers": _QUIET}

    def _note(self, event: DagsterEvent, partition: str) -> None:
        if event.is_step_materialization:
            materialization = event.step_materialization_data.materialization
            metadata = {name: value.value for name, value in materialization.metadata.items()}
            self.materialized.append(
                MaterializedPartition(
                    materialization.asset_key.to_user_string(), partition, metadata
                )
            )
        elif event.event_type_value == "ASSET_CHECK_EVALUATION":
            evaluation = event.asset_check_evaluation_data
            if not evaluation.passed:
                table_name = ", ".join(
                    filter(None, [evaluation.asset_key.to_user_string(), partition])
                )
                messages = (
                    self.failed_checks if evaluation.severity.value == "ERROR" else self.warnings
                )
                messages.append(f"{table_name}: {evaluation.check_name}: {evaluation.description}")
        elif event.is_step_failure:
            error = event.step_failure_data.error
            cause = error.cause if error and error.cause else error
            name = ", ".join(filter(None, [str(event.step_key), partition]))
            kind = (cause.cls_name if cause else None) or ""
            message = cause.message.strip() if cause else str(event)
            self.failures.append(StepFailure(name, kind, re.sub(rf"^[\w.]*{kind}: ", "", message)))
