"""Peak memory of a process and everything that it started."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

import psutil

_PAUSE_S = 0.5


@dataclass
class Memory:
    """Sums over a process tree in bytes.

    `resident` counts what processes share once for each of them, so it is an upper bound;
    `proportional` (Linux alone, else 0) counts it once in all.
    """

    resident: int = 0
    proportional: int = 0
    processes: int = 0


def tree_memory(pid: int) -> Memory:
    """What the process and its descendants hold now; nothing once it has ended."""
    total = Memory()
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return total
    for member in family:
        try:
            held = member.memory_full_info()
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
        total.resident += held.rss
        total.proportional += getattr(held, "pss", 0)
        total.processes += 1
    return total


@contextmanager
def peak_of(pid: int) -> Iterator[Memory]:
    """Watch a process tree until the block ends; the value given holds the peaks so far."""
    peak, ended = Memory(), Event()

    def watch() -> None:
        while not ended.is_set():
            now = tree_memory(pid)
            peak.resident = max(peak.resident, now.resident)
            peak.proportional = max(peak.proportional, now.proportional)
            peak.processes = max(peak.processes, now.processes)
            time.sleep(_PAUSE_S)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()
