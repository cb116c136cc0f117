import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from resources.workers import WorkerDied, spread


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


@pytest.mark.parametrize("many", [0, 1, 3, 4, 101])
def test_results_come_in_order(many):
    assert list(spread(square, range(many))) == [number**2 for number in range(many)]


def test_the_work_is_done_elsewhere_once_it_is_worth_it():
    assert os.getpid() not in set(spread(where, range(20)))


def where(_):
    return os.getpid()


def test_an_error_comes_after_the_results_before_it():
    results = spread(refuse_seven, range(20))
    assert [next(results) for _ in range(6)] == list(range(6))
    with pytest.raises(ValueError, match="seven"):
        list(results)


def test_a_killed_worker_is_named_and_the_next_call_works():
    with pytest.raises(WorkerDied, match="memory ran out"):
        list(spread(die_at_seven, range(20)))
    assert list(spread(square, range(20))) == [number**2 for number in range(20)]


KILLED = """
import os, signal, sys
from resources.workers import spread
from tests.resources.test_workers import where
print(*set(spread(where, range(20))), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_a_process_that_is_killed():
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], capture_output=True, text=True, timeout=60, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    workers = [int(pid) for pid in killed.stdout.split()]
    assert workers
    until = time.monotonic() + 20
    while any(psutil.pid_exists(pid) for pid in workers):
        assert time.monotonic() < until, f"still there: {workers}"
        time.sleep(0.1)
