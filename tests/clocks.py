"""A clock for what waits in an event loop: it costs no time, and a stall of the machine none."""

import asyncio
import selectors


class Clock(selectors.SelectSelector):
    """Seconds that pass only where an event loop waits for them, and then at once."""

    now = 1000.0

    def select(self, timeout=None):
        self.now += timeout or 0.0
        return super().select(timeout and 0)

    def __call__(self):
        return self.now

    def run(self, main):
        """What a coroutine returns on an event loop of this clock."""
        loop = asyncio.SelectorEventLoop(self)
        loop.time = self
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(main)
