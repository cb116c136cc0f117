"""A sandbox for untrusted input: a process that can be ended, since it may hang or die."""

import multiprocessing
import resource
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class SandboxFailure(Exception):
    """The work on one item did not end in time, or took its process down with it."""


def run_sandboxed(
    work: Callable[[Item], Result], items: Sequence[Item], seconds: int
) -> Iterator[Result | SandboxFailure]:
    """Results of `work` in order, from another process; `SandboxFailure` where there is none.

    `work` is a module's own function that raises nothing. An item that takes longer than so many
    seconds ends its process, and the next one begins in a new one.
    """
    done = 0
    while done < len(items):
        for result in _in_one_process(work, items[done:], seconds):
            done += 1
            yield result


def _in_one_process(
    work: Callable[[Item], Result], items: Sequence[Item], seconds: int
) -> Iterator[Result | SandboxFailure]:
    """Results until all are there or one is `SandboxFailure`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["generators.work"])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_do, args=(there, work, items, seconds), daemon=True)
    process.start()
    there.close()
    try:
        for _ in items:
            if not here.poll(seconds):
                yield SandboxFailure(f"It takes longer than {seconds} s")
                return
            yield here.recv()
    except EOFError:
        yield SandboxFailure("It ends the process that works on it")
    finally:
        process.kill()
        process.join()
        process.close()
        here.close()


def _do(there: Connection, work: Callable[[Any], Any], items: Sequence[Any], seconds: int) -> None:
    for item in items:
        # Should nobody be left to end this process, the system does.
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + 2 * seconds
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        there.send(work(item))
    there.close()
