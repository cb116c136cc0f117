"""A metric's function that is slow or never returns: who waits for it, and who need not."""

import asyncio
from threading import Event, Lock, Semaphore, Thread

import pytest

from resources.models.backend_pool import EventLoopThread
from resources.models.backends.python import Python
from resources.models.catalog import Model
from resources.models.requests import ScoreRequest
from tests.resources.models.backends.local_models import Pictures, picture

PICTURES = Pictures(picture("red", (4, 4)))
REQUEST = ScoreRequest("a bird", next(iter(PICTURES)))
MODEL = Model(
    name="slow",
    backend="python",
    model="slow_metrics:score",
    family="f",
    roles=("metric",),
    parameters={"version": 1, "scale": [0, 1]},
)


class SlowFunction:
    """Returns once it may; counts how often it is called at once."""

    def __init__(self):
        self.begun, self.may_end = Semaphore(0), Event()
        self.most = self._count = 0
        self._counting = Lock()

    def __call__(self, image, text):
        with self._counting:
            self._count += 1
            self.most = max(self.most, self._count)
        self.begun.release()
        self.may_end.wait()
        with self._counting:
            self._count -= 1
        return 0.5


@pytest.fixture
def function():
    function = SlowFunction()
    yield function
    function.may_end.set()


@pytest.fixture
def backend(function):
    backend = Python(MODEL, None, PICTURES)
    backend._function = function
    return backend


def test_a_function_that_outlasts_a_deadline_is_still_called_for_one_picture_at_a_time(
    backend, function
):
    async def main():
        first = asyncio.create_task(backend.score(REQUEST))
        await asyncio.to_thread(function.begun.acquire)
        first.cancel()
        second = asyncio.create_task(backend.score(REQUEST))
        await asyncio.to_thread(function.begun.acquire, timeout=0.2)
        function.may_end.set()
        assert first.cancelled()
        return (await second).score

    assert asyncio.run(asyncio.wait_for(main(), 60)) == 0.5
    assert function.most == 1


def test_a_function_that_never_returns_keeps_no_loop_open(backend, function):
    loop = EventLoopThread()
    loop.submit(backend.score(REQUEST))
    function.begun.acquire()
    closing = Thread(target=loop.close, daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()
