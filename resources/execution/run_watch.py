"""Watch of a step's run: whether it still wants answers, or was cancelled or killed."""

from typing import NamedTuple

from dagster import DagsterInstance, DagsterRunStatus

from resources.execution.dagster_internals import is_backfill_cancelled
from resources.execution.executors import find_process


class RunWatch(NamedTuple):
    """Looks a run up in Dagster's instance, where others cancel and end it."""

    instance: DagsterInstance
    run_id: str

    def find_stop_reason(self) -> str:
        """Return why the run may send nothing more; empty where it may go on.

        Dagster cancels the runs of a backfill one after the other, which takes up to a minute: each
        of them looks at the backfill itself. The steps of a killed process go on without it.
        """
        run = self.instance.get_run_by_id(self.run_id)
        if run is None:
            return "The run was deleted."
        if run.status is DagsterRunStatus.CANCELING or run.is_finished:
            return "The run was cancelled or has ended."
        process = find_process(run)
        if process is not None and process.has_ended:
            return "The process of the run was killed."
        if is_backfill_cancelled(self.instance, run):
            return "The backfill was cancelled."
        return ""
