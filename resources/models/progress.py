"""Progress of a run: done and total, per second, time left, spent."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from logging import Logger
from time import monotonic

from resources.models.pricing import dollars

EVERY_S = 10.0


@dataclass(slots=True)
class Progress:
    """Counts the requests to one model and reports to `log` every ten seconds."""

    model: str
    total: int
    known: int
    log: Logger
    priced: bool = True
    """Whether what is asked has a price at all."""
    done: int = 0
    sent: int = 0
    spent: int = 0
    """Billionths of a dollar that answers cost so far."""
    possibly_spent: int = 0
    """The upper bound of what else may have been paid: time limits, broken connections."""
    unpriced: int = 0
    """Attempts that cost something, and nobody knows how much at most."""
    paused_until: float = 0.0
    """Before then nothing is sent, as the provider asks; on the monotonic clock."""
    ended: Counter[str] = field(default_factory=Counter)
    trouble: Counter[str] = field(default_factory=Counter)
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = monotonic()

    def record_cost(self, cost: int | None, bound: int | None) -> None:
        """One more attempt was paid for, or (where its cost is None) may have been."""
        if cost is not None:
            self.spent += cost
        elif bound is not None:
            self.possibly_spent += bound
        else:
            self.unpriced += 1

    def record_outcome(self, outcome: str) -> None:
        """One more request has ended."""
        self.done += 1
        self.ended[outcome] += 1

    async def log_periodically(self) -> None:
        """Log the state every ten seconds, until cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            self.log.info("%s", self)

    def __str__(self) -> str:
        """The state in one line, as a reader of the log wants it."""
        now = monotonic()
        seconds = max(now - self._began, 1e-9)
        rate = self.done / seconds
        missing = self.total - self.known
        parts = [
            f"{self.model}: {self.known + self.done:,} of {self.total:,}",
            f"{self.known:,} known before",
            f"{rate:.1f}/s",
            f"{duration((missing - self.done) / rate)} left" if rate else "time left unknown",
            self._money(),
        ]
        if self.paused_until > now:
            pause = duration(self.paused_until - now)
            parts.append(f"nothing is sent for {pause}, as the provider asks")
        told = {**{k: n for k, n in self.ended.items() if k != "answered"}, **self.trouble}
        return " · ".join(parts + [f"{number:,} {what}" for what, number in told.items()])

    def _money(self) -> str:
        if self.unpriced or not self.priced:
            return "spent unknown (no price)"
        possibly = f", possibly ${dollars(self.possibly_spent):.4f} more"
        return f"spent ${dollars(self.spent):.4f}" + (possibly if self.possibly_spent else "")


def duration(seconds: float) -> str:
    """Seconds as a reader wants them."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
