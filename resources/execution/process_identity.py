"""Processes of this machine, identified beyond their reused numbers."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_BOOT = _PROC / "sys/kernel/random/boot_id"
_OVER = "ZX"
"""The states of a process that has ended and whose parent has not asked how."""


class ProcessIdentity(NamedTuple):
    """A process, by what no other shares: no later one, and none after the machine was restarted.

    `started` is in ticks since the machine was, so that nobody's setting of the clock changes it.
    """

    host: str
    boot: str
    pid: int
    started: int

    def __str__(self) -> str:
        return f"{self.host} {self.boot} {self.pid} {self.started}"

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, which can be said on its own machine alone."""
        return self.host == socket.gethostname() and self != identify_process(self.pid)


def identify_process(pid: int) -> ProcessIdentity | None:
    """The process of that number on this machine; None if there is none, or without /proc.

    Raises OSError where that cannot be looked up, as with too many open files.
    """
    try:
        # The name of the program comes second, in brackets, and may have spaces and brackets in it.
        state, *fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        boot = _BOOT.read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return (
        None
        if state in _OVER
        else ProcessIdentity(socket.gethostname(), boot, pid, int(fields[18]))
    )


def identify_this_process() -> ProcessIdentity | None:
    """The process that asks; None on a machine without /proc."""
    with suppress(OSError):
        return identify_process(os.getpid())
    return None


def parse_process(text: str) -> ProcessIdentity | None:
    """The process that was written as text; None for what is no such text."""
    try:
        host, boot, pid, started = text.split()
        return ProcessIdentity(host, boot, int(pid), int(started))
    except ValueError:
        return None
