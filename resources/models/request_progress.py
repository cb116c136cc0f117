"""Progress of a run: done and total, per second, time left, spent."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from logging import Logger
from time import monotonic

from resources.models.pricing import to_dollars

LOG_INTERVAL_S = 10.0


@dataclass(slots=True)
class RequestProgress:
    """Counts the requests to one model and reports to `log` every ten seconds."""

    model: str
    total: int
    already_stored: int
    log: Logger
    has_price: bool = True
    """Whether what is asked has a price at all."""
    done: int = 0
    sent: int = 0
    spent: int = 0
    """Billionths of a dollar that answers cost so far."""
    possibly_spent: int = 0
    """The upper bound of what else may have been paid: time limits, broken connections."""
    unpriced: int = 0
    """Attempts that cost something, without a known upper bound."""
    paused_until: float = 0.0
    """Time until which the provider asks for a pause, on the monotonic clock."""
    outcome_counts: Counter[str] = field(default_factory=Counter)
    failure_counts: Counter[str] = field(default_factory=Counter)
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = monotonic()

    def record_cost(self, cost: int | None, bound: int | None) -> None:
        """Record an attempt that was paid for, or (if its cost is None) may have been."""
        if cost is not None:
            self.spent += cost
        elif bound is not None:
            self.possibly_spent += bound
        else:
            self.unpriced += 1

    def record_outcome(self, outcome: str) -> None:
        """Record a request that has ended."""
        self.done += 1
        self.outcome_counts[outcome] += 1

    async def log_periodically(self) -> None:
        """Log the state every ten seconds, until cancelled."""
        while True:
            await asyncio.sleep(LOG_INTERVAL_S)
            self.log.info("%s", self)

    def __str__(self) -> str:
        """The state in one line, as a reader of the log wants it."""
        current_time = monotonic()
        seconds = max(current_time - self._began, 1e-9)
        rate = self.done / seconds
        missing = self.total - self.already_stored
        parts = [
            f"{self.model}: {self.already_stored + self.done:,} of {self.total:,}",
            f"{self.already_stored:,} known before",
            f"{rate:.1f}/s",
            f"{format_duration((missing - self.done) / rate)} left"
            if rate
            else "time left unknown",
            self._money(),
        ]
        if self.paused_until > current_time:
            pause = format_duration(self.paused_until - current_time)
            parts.append(f"nothing is sent for {pause}, as the provider asks")
        counts = {
            **{k: n for k, n in self.outcome_counts.items() if k != "answered"},
            **self.failure_counts,
        }
        return " · ".join(parts + [f"{number:,} {name}" for name, number in counts.items()])

    def _money(self) -> str:
        if self.unpriced or not self.has_price:
            return "spent unknown (no price)"
        possibly = f", possibly ${to_dollars(self.possibly_spent):.4f} more"
        return f"spent ${to_dollars(self.spent):.4f}" + (possibly if self.possibly_spent else "")


def format_duration(seconds: float) -> str:
    """Seconds as a reader wants them."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
