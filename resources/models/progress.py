"""What a run says of itself while it asks: done and total, per second, time left, spent."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from logging import Logger
from time import monotonic

EVERY_S = 10.0


@dataclass(slots=True)
class Progress:
    """Counts what is asked of one model and tells `log` every ten seconds."""

    model: str
    total: int
    known: int
    log: Logger
    done: int = 0
    sent: int = 0
    spent: float | None = 0.0
    """Dollars so far; None where the price is unknown, or that of an answer that came."""
    paused_until: float = 0.0
    """Before then nothing is sent, as the provider asks; on the monotonic clock."""
    ended: Counter[str] = field(default_factory=Counter)
    trouble: Counter[str] = field(default_factory=Counter)
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = monotonic()

    def pay(self, cost: float | None) -> None:
        """One more reply came, for so many dollars."""
        self.spent = None if self.spent is None or cost is None else self.spent + cost

    def end(self, outcome: str) -> None:
        """One more request has ended."""
        self.done += 1
        self.ended[outcome] += 1

    async def tell(self) -> None:
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
            "spent unknown (no price)" if self.spent is None else f"spent ${self.spent:.4f}",
        ]
        if self.paused_until > now:
            pause = duration(self.paused_until - now)
            parts.append(f"nothing is sent for {pause}, as the provider asks")
        told = {**{k: n for k, n in self.ended.items() if k != "answered"}, **self.trouble}
        return " · ".join(parts + [f"{number:,} {what}" for what, number in told.items()])


def duration(seconds: float) -> str:
    """Seconds as a reader wants them."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
