"""An event loop in its own thread, so that an interrupt reaches the thread that waits for it."""

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any, TypeVar

Result = TypeVar("Result")


class EventLoopThread:
    """Runs coroutines for a thread that waits for them.

    Dagster ends a run by an exception out of a signal's handler, which Python raises in the main
    thread, wherever that is. Inside of an event loop it would end whichever task was running, or
    be logged and forgotten.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="models", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What `work` returns. If the waiting is interrupted, it is cancelled, and ends first."""
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result()
        finally:
            if not running.done():
                self._end_all()

    def close(self) -> None:
        """Cancel what still runs, and end the thread."""
        self._end_all()
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _end_all(self) -> None:
        asyncio.run_coroutine_threadsafe(_end_others(), self._loop).result()


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
