"""The machine that figures come from, in plain words."""

import os
import platform
from pathlib import Path

import psutil


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
