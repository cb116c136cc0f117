"""Adaptive concurrency, within a model's limits per minute.

The number at once falls by half when the provider says that it is overloaded, and rises by about
one for each round of answers after that (additive increase, multiplicative decrease).
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic

_WEIGHT_OF_THE_LAST = 0.1
"""Weight of the latest answer in the expected duration of the next."""


@dataclass(slots=True)
class AdaptiveConcurrency:
    """The concurrency and rate of one model in one process.

    `concurrency` is the most requests at once; the limits per minute are spread evenly over it.
    The tokens of a request are known only after its answer. Under a token limit the first request
    is sent alone. Each later one books the average of the latest; its answer corrects that.
    """

    concurrency: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    _limit: float = field(init=False)
    _running: int = field(init=False, default=0)
    _next_start: float = field(init=False, default=0.0)
    _paused_until: float = field(init=False, default=0.0)
    _last_decrease: float = field(init=False, default=0.0)
    _tokens_free_at: float = field(init=False, default=0.0)
    _tokens_expected: float | None = field(init=False, default=None)
    _freed: asyncio.Condition = field(init=False, default_factory=asyncio.Condition)
    _ended: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._limit = float(self.concurrency)

    @property
    def limit(self) -> int:
        """Requests that may run at once for now."""
        if self.tokens_per_minute and self._tokens_expected is None:
            return 1
        return int(self._limit)

    @property
    def paused_until(self) -> float:
        """The moment until which nothing may be sent, as an overloaded provider asked."""
        return self._paused_until

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a slot and hold it; gives the moment at which it began."""
        async with self._freed:
            await self._freed.wait_for(lambda: self._running < self.limit)
            self._running += 1
        try:
            await self._wait()
            yield monotonic()
        finally:
            self._running -= 1
            async with self._freed:
                self._freed.notify(2)

    def record_success(self, tokens: int | None) -> None:
        """An answer came: allow a little more at once, and book its tokens."""
        self._limit = min(self.concurrency, self._limit + 1 / self._limit)
        if self._tokens_expected is None:
            self._tokens_expected = float(tokens or 0)
            self._book(self._tokens_expected)
        elif tokens is not None:
            beyond = tokens - self._tokens_expected
            self._tokens_expected += beyond * _WEIGHT_OF_THE_LAST
            self._book(beyond)

    def record_overload(self, began: float, retry_after: float | None) -> float:
        """Halve the concurrency after a refusal of a request that `began` at that time.

        Refusals of concurrent requests count once. With `retry_after` in seconds, nothing is sent
        before it is over. Returns the time at which pauses end.
        """
        current_time = monotonic()
        if began >= self._last_decrease:
            self._limit = max(1.0, self._limit / 2)
            self._last_decrease = current_time
        if retry_after is not None:
            self._paused_until = max(self._paused_until, current_time + retry_after)
        return self._paused_until

    async def sleep(self, seconds: float) -> None:
        """Wait so long, or until the end."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)

    def stop(self) -> None:
        """Let all who wait go on at once: nothing more is to be sent."""
        self._ended.set()

    async def _wait(self) -> None:
        """Wait until a request may start, and take that start."""
        await self._wait_until(lambda: max(self._paused_until, self._tokens_free_at))
        self._book(self._tokens_expected or 0.0)
        if self.requests_per_minute:
            mine = max(self._next_start, monotonic())
            self._next_start = mine + 60 / self.requests_per_minute
            await self._wait_until(lambda: max(mine, self._paused_until))

    def _book(self, tokens: float) -> None:
        if self.tokens_per_minute:
            booked_s = tokens * 60 / self.tokens_per_minute
            self._tokens_free_at = max(self._tokens_free_at, monotonic()) + booked_s

    async def _wait_until(self, start: Callable[[], float]) -> None:
        """Wait for a moment that may be put off meanwhile."""
        while not self._ended.is_set() and (remaining_s := start() - monotonic()) > 0:
            await self.sleep(remaining_s)
