import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from resources.execution import workers
from resources.execution.cores import count_cores
from resources.execution.workers import WorkerDied, map_in_workers, run_in_worker


def square(number):
    return number * number


def die_at_seven(number):
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refuse_seven(number):
    if number == 7:
        raise ValueError("seven")
    return number


def keyed(numbers):
    return ((number, number) for number in numbers)


@pytest.mark.parametrize("many", [0, 1, 3, 4, 101])
def test_results_come_in_order(many):
    squares = [(number, number**2) for number in range(many)]
    assert list(map_in_workers(square, keyed(range(many)))) == squares


def test_the_work_is_done_elsewhere_once_it_is_worth_it():
    assert os.getpid() not in dict(map_in_workers(where, keyed(range(20)))).values()


def where(_):
    return os.getpid()


def test_an_error_comes_after_the_results_before_it():
    results = map_in_workers(refuse_seven, keyed(range(20)))
    assert [next(results)[1] for _ in range(6)] == list(range(6))
    with pytest.raises(ValueError, match="seven"):
        list(results)


def test_an_item_that_kills_three_workers_is_named_after_all_others():
    results = map_in_workers(die_at_seven, keyed(range(20)))
    assert [next(results) for _ in range(19)] == [(n, n) for n in range(20) if n != 7]
    with pytest.raises(WorkerDied, match=r"3 worker processes at 7, .*memory ran out"):
        next(results)
    assert dict(map_in_workers(square, keyed(range(20)))) == {n: n**2 for n in range(20)}


@pytest.mark.slow
def test_work_that_kills_every_worker_is_given_up():
    with pytest.raises(WorkerDied, match="3 worker processes at 0, "):
        list(map_in_workers(die, keyed(range(10**6))))


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def begin(job):
    folder, number = job
    with (folder / str(number)).open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(0.005)
    return hashlib.sha256(bytes([number])).hexdigest()


@pytest.mark.parametrize(
    "killed_at",
    [
        pytest.param((), marks=pytest.mark.slow),
        pytest.param((50,), marks=pytest.mark.slow),
        (50, 100, 150),
    ],
    ids=len,
)
def test_a_killed_worker_costs_only_the_item_that_it_had(tmp_path, killed_at):
    results = {}
    for key, digest in map_in_workers(begin, ((n, (tmp_path, n)) for n in range(200))):
        results[key] = digest
        if key in killed_at:
            os.kill(int((tmp_path / str(key)).read_text()), signal.SIGKILL)
    assert results == {n: hashlib.sha256(bytes([n])).hexdigest() for n in range(200)}
    assert list(results) == list(range(200))
    begun = sum(len((tmp_path / str(n)).read_text().splitlines()) for n in range(200))
    assert 200 <= begun <= 200 + len(killed_at)


def test_few_items_are_taken_ahead_of_the_results_that_are_asked_for():
    taken = []
    results = map_in_workers(
        square, (taken.append(number) or (number, number) for number in range(1000))
    )
    assert [next(results)[1] for _ in range(5)] == [number**2 for number in range(5)]
    assert len(taken) <= workers._PREFETCHED * count_cores() + 5
    assert [*results] == [(number, number**2) for number in range(5, 1000)]
    assert taken == list(range(1000))


def test_an_event_loop_has_its_work_done_elsewhere():
    async def all_at_once():
        results = [run_in_worker(square, number) for number in range(20)]
        return await asyncio.gather(run_in_worker(where, None), *results)

    worker, *results = asyncio.run(all_at_once())
    assert worker != os.getpid()
    assert results == [number**2 for number in range(20)]


def test_an_event_loop_hears_of_errors_and_of_killed_workers():
    with pytest.raises(ValueError, match="seven"):
        asyncio.run(run_in_worker(refuse_seven, 7))
    with pytest.raises(WorkerDied, match=r"3 worker processes at 7, .*memory ran out"):
        asyncio.run(run_in_worker(die_at_seven, 7))
    assert asyncio.run(run_in_worker(square, 7)) == 49


KILLED = """
import os, signal, sys
from resources.execution.workers import map_in_workers
from tests.resources.execution.test_workers import keyed, where
print(*set(dict(map_in_workers(where, keyed(range(20)))).values()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_a_process_that_is_killed():
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], capture_output=True, text=True, timeout=600, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    workers = [int(pid) for pid in killed.stdout.split()]
    assert workers
    until = time.monotonic() + 120
    while any(psutil.pid_exists(pid) for pid in workers):
        assert time.monotonic() < until, f"still there: {workers}"
        time.sleep(0.1)
