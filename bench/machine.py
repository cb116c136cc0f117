"""The machine that figures come from, and the memory of its processes."""

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import psutil

_PAUSE_S = 0.5


def machine() -> str:
    """Processor, cores, memory, Python, system and what else it was doing, in one line."""
    memory = psutil.virtual_memory().total / 2**30
    load, _, _ = psutil.getloadavg()
    return (
        f"{os.cpu_count()} cores of {_processor()}, {memory:.0f} GiB of memory, "
        f"Python {platform.python_version()}, {_system()}; load before the start {load:.2f}"
    )


def peak_megabytes() -> float:
    """The most memory that this process has held so far.

    `getrusage` would not do: it counts what the parent held when this process was started.
    """
    status = Path("/proc/self/status").read_text()
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak) * 1024 / 1e6


@dataclass
class Memory:
    """Sums over a process tree in bytes.

    `resident` counts what processes share once for each of them, so it is an upper bound;
    `proportional` (Linux alone, else 0) counts it once in all.
    """

    resident: int = 0
    proportional: int = 0
    processes: int = 0
    largest: int = 0
    """Resident bytes of the largest process."""

    @property
    def megabytes(self) -> float:
        """The memory of the tree, as nearly as the system tells it."""
        return (self.proportional or self.resident) / 1e6


def tree_memory(pid: int) -> Memory:
    """What the process and its descendants hold now; nothing once it has ended."""
    total = Memory()
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for member in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                held = member.memory_full_info()
                total.resident += held.rss
                total.largest = max(total.largest, held.rss)
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
            peak.largest = max(peak.largest, now.largest)
            time.sleep(_PAUSE_S)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"
