"""A pool of devices: which request is blamed for a death, and what becomes of those that wait."""

import asyncio
from collections import Counter
from concurrent.futures import Future
from threading import Timer
from time import sleep

import pytest

from resources.execution.worker_tasks import pack_task
from resources.models.device_workers import device_pool, local_devices
from resources.models.device_workers.device_pool import DevicePool
from resources.models.device_workers.device_worker import DeviceWorkerDied
from resources.models.device_workers.local_devices import LocalDevices
from resources.models.replies import UnacceptableRequest
from tests.resources.models.conftest import LOG


class Worker:
    """Answers 10 ms later, with what it is asked; "poison" ends it, and all that it has."""

    def __init__(self, source):
        self._source, self._pending, self._is_dead = source, set(), False

    def ask(self, arguments):
        future = Future()
        self._source.asked.append(arguments[0])
        self._source.most = max(self._source.most, len(self._pending) + 1)
        self._pending.add(future)
        Timer(0.01, self._end, [future, arguments[0]]).start()
        return future

    def _end(self, future, request):
        if request == "poison" and not self._is_dead:
            self._is_dead = True
            self._source.deaths += 1
        for ended in [*self._pending] if self._is_dead else [future]:
            self._pending.discard(ended)
            if not ended.done() and ended.set_running_or_notify_cancel():
                if self._is_dead:
                    ended.set_exception(DeviceWorkerDied("here"))
                else:
                    ended.set_result([(None, request)])

    def close(self):
        self._source.free += 1


class Source:
    """So many devices, until there is an `error`."""

    shortage = "None is free"
    delay_s = 0.0

    def __init__(self, devices):
        self.free, self.deaths, self.most, self.asked, self.error = devices, 0, 0, [], None

    def take(self, build_task, *, has_device):
        if self.error is not None:
            raise self.error
        number, self.free = self.free, 0
        sleep(self.delay_s)
        return [Worker(self) for _ in range(number)]

    def do_others_wait(self):
        return False

    def close(self):
        pass


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(device_pool, "POLL_INTERVAL_S", 0.01)


def ask_all(source, requests, most=4, meanwhile=None):
    async def ask():
        pool = DevicePool("model", source, lambda _: pack_task(Worker, []), most)
        await pool.ready(LOG)
        asking = [asyncio.create_task(pool.ask(request)) for request in requests]
        if meanwhile is not None:
            await asyncio.sleep(0.02)
            meanwhile()
        answers = await asyncio.gather(*asking, return_exceptions=True)
        await pool.aclose()
        return answers

    return asyncio.run(asyncio.wait_for(ask(), 60))


@pytest.mark.parametrize("devices", [1, 2])
def test_a_request_that_ends_three_workers_is_named_and_no_other_blamed(devices):
    source = Source(devices)
    requests = [f"request {number}" for number in range(20)]
    *answers, poisoned = ask_all(source, [*requests, "poison"])
    assert answers == requests
    assert isinstance(poisoned, UnacceptableRequest)
    assert "has ended 3 workers of model (the last one here)" in str(poisoned)
    assert source.deaths == 3
    assert source.most == 4
    counts = Counter(source.asked)
    assert counts.pop("poison") == 3
    # Those that were with it once, at most.
    assert max(counts.values()) <= 2
    assert sum(counts.values()) <= len(requests) + 3
    assert source.free == devices


def test_devices_that_are_taken_while_the_first_wait_is_cancelled_are_free_again():
    source = Source(2)
    source.delay_s = 0.2

    async def give_up():
        pool = DevicePool("model", source, lambda _: pack_task(Worker, []), 4)
        waiting = asyncio.create_task(pool.ready(LOG))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await pool.aclose()

    asyncio.run(asyncio.wait_for(give_up(), 60))
    assert source.free == 2


def test_a_device_that_fails_to_start_leaves_the_others_free(monkeypatch):
    started, ended = [], []

    class Process:
        def __init__(self, device, task, lease):
            if started:
                lease.close()
                raise OSError("Cannot allocate memory")
            started.append(device)
            self._lease = lease

        def close(self):
            ended.append(started[0])
            self._lease.close()

    monkeypatch.setattr(local_devices, "DeviceProcess", Process)
    devices = LocalDevices("a model of this test", ["cpu", "cpu"])
    with pytest.raises(OSError, match="allocate"):
        devices.take(lambda device: pack_task(Worker, []), has_device=False)
    assert started == ended == ["cpu"]


def test_requests_hear_of_what_ends_the_devices(caplog):
    source = Source(1)

    def fail():
        source.error = ConnectionError("the cluster is gone")

    answers = ask_all(source, ["poison", "one", "two"], most=1, meanwhile=fail)
    assert {str(answer) for answer in answers[:1]} == {"the cluster is gone"}
    assert "the cluster is gone" in str(answers[-1])


def test_a_device_that_is_taken_while_the_pool_closes_is_free_again():
    source = Source(1)

    def offer_another():
        source.free, source.delay_s = 1, 0.3

    requests = [f"request {number}" for number in range(8)]
    assert ask_all(source, requests, most=1, meanwhile=offer_another) == requests
    assert source.free == 2
