"""How far runs are: bars on a terminal, and a line now and then where output goes to a file."""

import logging
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import typer

from commands.environment import open_stores
from commands.interruption import signal_log
from commands.tables import build_console

if TYPE_CHECKING:
    from dagster import DagsterInstance
    from rich.progress import TaskID

    from sensors.run_launcher import BegunRun, RunLauncher
    from sensors.run_plan import PlannedRun

_LOOK_S = 2.0
"""Seconds between looks at what the steps of a run say."""
_COUNT_S = 10.0
"""Seconds between looks at the number of answers and at what they cost."""
_LINE_S = 30.0
"""Seconds between lines in a file."""
_FEWEST, _LEAST_SHARE = 2, 0.05
"""Least number, and least share, of finished parts that a time left is estimated from: the first
ones wait for processes to start."""
_ENDED = ("STEP_SUCCESS", "STEP_FAILURE", "STEP_SKIPPED")


class Extent(NamedTuple):
    """Work that is to be done, as far as it is known: runs, answers and dollars."""

    runs: int | None = None
    answers: int | None = None
    budget_usd: float | None = None


class Progress(NamedTuple):
    """What is done of an extent of work."""

    extent: Extent
    seconds: float
    """Time since the first run began."""
    runs: int = 0
    answers: int = 0
    spent_usd: float = 0.0
    """The most that was spent: what is on its way counts with its bound."""

    @property
    def seconds_left(self) -> float | None:
        """The time left, if answers, else runs, go on as so far; None without a basis."""
        total, done = self.extent.answers, self.answers
        if total is None:
            total, done = self.extent.runs, self.runs
        if total is None or done > total or done < max(_FEWEST, _LEAST_SHARE * total):
            return None
        return self.seconds / done * (total - done)

    def __str__(self) -> str:
        """The state in a line, as in "1 of 3 runs · 12 of 40 answers · about 2 min left"."""
        extent, seconds = self.extent, self.seconds_left
        parts = [_format_share(self.runs, extent.runs, "run")]
        if extent.answers is not None or self.answers:
            parts.append(_format_share(self.answers, extent.answers, "answer"))
        if seconds is not None:
            parts.append(f"about {format_about(seconds)} left")
        if self.spent_usd or extent.budget_usd is not None:
            budget = "" if extent.budget_usd is None else f" of ${extent.budget_usd:,.2f}"
            parts.append(f"at most ${self.spent_usd:,.4f}{budget} spent")
        return " · ".join(parts)


def format_about(seconds: float) -> str:
    """Format a duration as exactly as an estimate is: to ten seconds, minutes or ten minutes."""
    if seconds < 95:
        return f"{max(10, 10 * round(seconds / 10))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(10 * round(seconds / 600), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _format_share(done: int, total: int | None, noun: str) -> str:
    share = f"{done:,}" if total is None else f"{done:,} of {total:,}"
    return f"{share} {noun if (done if total is None else total) == 1 else f'{noun}s'}"


@dataclass(slots=True)
class FollowedRun:
    """A run whose steps are shown: its bar, and how far its log was read."""

    begun: "BegunRun"
    bar: "TaskID"
    cursor: str | None = None
    message: str = ""


class ProgressDisplay:
    """Executes runs one after the other, and shows meanwhile how far they are.

    On a terminal a bar for all and one for the run's steps, which go away at the end; in a file a
    line every 30 seconds.
    """

    def __init__(
        self, instance: "DagsterInstance", launcher: "RunLauncher", extent: Extent
    ) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        self._instance, self._launcher = instance, launcher
        self._began = monotonic()
        self._progress = Progress(extent, 0.0)
        self._followed: FollowedRun | None = None
        self._is_over = Event()
        self._stack = ExitStack()
        text = TextColumn("{task.description}")
        columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        terminal = build_console(errors=True)
        self._is_terminal = terminal.is_terminal
        self._bars = Bars(*columns, console=terminal, transient=True, disable=not self._is_terminal)
        self._all = self._bars.add_task("runs", total=extent.runs)

    def __enter__(self) -> Self:
        self._calls = self._stack.enter_context(open_stores(self._instance, "models")).models.calls
        self._stack.enter_context(self._bars)
        self._thread = Thread(target=self._follow, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()
        self._stack.close()

    def execute(self, planned: "PlannedRun") -> None:
        """Do a run.

        Raises KeyboardInterrupt, which says how many answers are kept, once an interrupted run
        ended.
        """
        from dagster import DagsterExecutionInterruptedError

        try:
            self._execute(planned)
            if signal_log.find_interrupt() is not None:
                raise KeyboardInterrupt
        except (KeyboardInterrupt, DagsterExecutionInterruptedError):
            answer_count = self._calls.count_answers(self._launcher.run_ids)
            raise KeyboardInterrupt(f"Interrupted: {answer_count:,} answers kept.") from None

    def _execute(self, planned: "PlannedRun") -> None:
        begun = self._launcher.begin(planned)
        steps = self._bars.add_task(begun.name, total=begun.execution.steps)
        self._followed = FollowedRun(begun, steps)
        for event in self._launcher.events(begun):
            if event.event_type_value in _ENDED:
                self._bars.advance(steps)
        self._followed = None
        self._bars.remove_task(steps)
        self._progress = self._progress._replace(runs=self._progress.runs + 1)
        self._bars.advance(self._all)

    def _follow(self) -> None:
        """Show what the run's steps say, and now and then the state of all; in a thread."""
        counted = printed = self._began
        while not self._is_over.wait(_LOOK_S):
            current_time = monotonic()
            message = self._look()
            if current_time - counted >= _COUNT_S:
                counted = current_time
                self._count()
            if not self._is_terminal and current_time - printed >= _LINE_S:
                printed = current_time
                typer.echo(" · ".join(filter(None, [str(self._progress), message])), err=True)

    def _look(self) -> str:
        """Show the latest message of the run's steps, and return it with the run's name."""
        followed = self._followed
        if followed is None:
            return ""
        news = self._instance.get_records_for_run(followed.begun.run_id, followed.cursor)
        followed.cursor = news.cursor
        entries = (record.event_log_entry for record in news.records)
        for entry in entries:
            if entry.dagster_event is None and int(entry.level) >= logging.INFO:
                followed.message = entry.user_message
        text = ": ".join(filter(None, [followed.begun.name, followed.message]))
        with suppress(KeyError):  # It has ended meanwhile.
            self._bars.update(followed.bar, description=text)
        return text

    def _count(self) -> None:
        from resources.calls.spending import NANO
        from resources.faults import StoreError

        run_ids = [*self._launcher.run_ids]
        with suppress(StoreError):  # The runs wait for a store that is away, and say so.
            self._progress = self._progress._replace(
                seconds=monotonic() - self._began,
                answers=self._calls.count_answers(run_ids),
                spent_usd=self._calls.sum_spending(run_ids) / NANO,
            )
            self._bars.update(self._all, description=str(self._progress))
