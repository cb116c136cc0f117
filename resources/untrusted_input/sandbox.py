"""A sandbox for untrusted input: a process that can be ended, since it may hang or die."""

import math
import multiprocessing
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


_BUSY = 30
"""Factor by which an item may exceed its time where others keep the machine busy."""


class SandboxFailure(Exception):
    """The work on one item did not end in time, or took its process down with it."""


def run_sandboxed(
    work: Callable[[Item], Result], items: Sequence[Item], seconds: int
) -> Iterator[Result | SandboxFailure]:
    """Results of `work` in order, from another process; `SandboxFailure` where there is none.

    `work` is a module's own function that raises nothing. An item that keeps a processor for longer
    than so many seconds ends its process, and the next one begins in a new one: how long it waits
    for one, on a busy machine, does not count.
    """
    done = 0
    while done < len(items):
        for result in _run_in_process(work, items[done:], seconds):
            done += 1
            yield result


def _run_in_process(
    work: Callable[[Item], Result], items: Sequence[Item], seconds: int
) -> Iterator[Result | SandboxFailure]:
    """Results until all are there or one is `SandboxFailure`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["generators.worker_jobs"])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_do, args=(sender, work, items, seconds), daemon=True)
    process.start()
    sender.close()
    too_long = SandboxFailure(f"It takes longer than {seconds} s")
    try:
        for _ in items:
            if not receiver.poll(_BUSY * seconds):
                yield too_long
                return
            yield receiver.recv()
    except (EOFError, OSError):
        # An error of the system's where it ended in the middle of telling a result.
        process.join()
        crashed = SandboxFailure("It ends the process that works on it")
        yield too_long if process.exitcode == -signal.SIGXCPU else crashed
    finally:
        process.kill()
        process.join()
        process.close()
        receiver.close()


def _do(sender: Connection, work: Callable[[Any], Any], items: Sequence[Any], seconds: int) -> None:
    # Ctrl-C on a terminal reaches it as well; whoever waits for it decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What is ended for its time leaves no image of its memory.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for item in items:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = math.ceil(used.ru_utime + used.ru_stime) + seconds
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        # Only root may raise that: elsewhere each item would end its process.
        allowed = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))
        sender.send(work(item))
    sender.close()
