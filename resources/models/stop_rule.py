"""Stop rule of a round of requests: failures to count, and the error to raise."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from resources.faults import OverBudget, RequestsStopped, RunEnded
from resources.models.catalog import Model
from resources.models.outcomes import FailedOutcome
from resources.models.request_progress import RequestProgress

FAILURES_IN_A_ROW = 10
"""Least number of failed requests in a row after which a run gives up."""
FAILED_ATTEMPTS_FACTOR = 3
"""Factor for failed attempts in a row before the first answer."""


@dataclass(slots=True)
class StopRule:
    """Counts failures, and keeps the first reason to send nothing more.

    `release_waiting` lets the requests go on that wait for their turn, which then end unsent.
    """

    model: Model
    progress: RequestProgress
    release_waiting: Callable[[], None]
    reason: str | Exception | None = field(init=False, default=None)
    _provider_words: str = field(init=False, default="")
    _failed_in_a_row: int = field(init=False, default=0)

    @property
    def has_stopped(self) -> bool:
        """True once nothing more is to be sent."""
        return self.reason is not None

    def stop(self, reason: str | Exception, provider_words: str = "") -> None:
        """Send no more; the first of several reasons is reported."""
        if self.reason is None:
            self.reason, self._provider_words = reason, provider_words
        self.release_waiting()

    def end(self, reason: str) -> None:
        """Stop since the run itself has ended."""
        error = RunEnded(f"{reason} Nothing more is sent; answers in flight are kept.")
        self.progress.log.warning("%s", error)
        self.stop(error)

    def stop_for_outage(self, error: str) -> None:
        """Stop since the provider cannot be reached, or only fails."""
        servers = " or ".join(self.model.base_urls) or f"the provider of {self.model.model}"
        remedy = f"Check that {servers} is right and can be reached."
        self.stop(f"{to_sentence(error)} {remedy}", error)

    def record_answer(self) -> None:
        """Note an answer: failures are counted anew."""
        self._failed_in_a_row = 0

    def count_failure(self, error: str) -> None:
        """Count a request that ended without an answer; stop after many in a row."""
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= max(FAILURES_IN_A_ROW, self.model.concurrency):
            summary = f"{self._failed_in_a_row} requests in a row failed, the last with: "
            self.stop_for_outage(summary + error)

    def count_attempt(self, failed: FailedOutcome, *, has_answers: bool) -> None:
        """Count a failed attempt that is not the request's own fault."""
        self.progress.failure_counts[failed.kind] += 1
        tries = self.progress.failure_counts.total() - self.progress.failure_counts["overloaded"]
        enough = FAILED_ATTEMPTS_FACTOR * max(FAILURES_IN_A_ROW, self.model.concurrency)
        if not has_answers and tries >= enough:
            summary = f"{tries} attempts failed before any answer, the last with: "
            self.stop_for_outage(summary + failed.error)

    def raise_reason(self, summary: str, pictures_note: str) -> NoReturn:
        """Raise the reason with a summary of what was answered."""
        if isinstance(self.reason, OverBudget):
            words = (str(self.reason), pictures_note, summary)
            raise OverBudget(" ".join(filter(None, words))) from None
        if isinstance(self.reason, RunEnded):
            raise RunEnded(f"{self.reason} {summary}")
        if isinstance(self.reason, Exception):
            raise self.reason
        raise RequestsStopped(
            f"{self.model.name} was stopped: {self.reason} {summary} Materialize again "
            "once that is mended: only the rest is asked.",
            self._provider_words,
        )


def to_sentence(text: str) -> str:
    """Add a full stop where a text lacks an end."""
    return text if text.endswith((".", "!", "?", ")", "…")) else f"{text}."
