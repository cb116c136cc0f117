"""Processes of this machine, identified beyond their reused numbers."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_BOOT = _PROC / "sys/kernel/random/boot_id"
_NAMESPACE = _PROC / "self/ns/pid"
_OVER = "ZX"
"""States of a process that has ended and was not waited for."""


class ProcessIdentity(NamedTuple):
    """A process, by what no other shares: no later one, and none after the machine was restarted.

    `namespace` is that of its number: containers of one machine each count from 1. `started` is in
    ticks since the machine was, so that a change of the clock does not matter.
    """

    host: str
    boot: str
    namespace: int
    pid: int
    started: int

    def __str__(self) -> str:
        return f"{self.host} {self.boot} {self.namespace} {self.pid} {self.started}"

    @property
    def has_ended(self) -> bool:
        """True where the process has ended, as far as this one can tell.

        It sees no process of another PID namespace, until the machine is restarted.
        """
        return self.is_visible and self != identify_process(self.pid)

    @property
    def is_visible(self) -> bool:
        """True where this process can tell whether the process has ended."""
        observer = identify_process(os.getpid())
        is_hidden = (
            observer is not None
            and observer.boot == self.boot
            and observer.namespace != self.namespace
        )
        return self.host == socket.gethostname() and not is_hidden


def identify_process(pid: int) -> ProcessIdentity | None:
    """The process of that number on this machine; None if there is none, or without /proc.

    Raises OSError where that cannot be looked up, as with too many open files.
    """
    try:
        # The name of the program comes second, in brackets, and may have spaces and brackets in it.
        state, *fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        boot = _BOOT.read_text().strip()
        namespace = _NAMESPACE.stat().st_ino
    except (FileNotFoundError, ProcessLookupError):
        return None
    if state in _OVER:
        return None
    return ProcessIdentity(
        host=socket.gethostname(),
        boot=boot,
        namespace=namespace,
        pid=pid,
        started=int(fields[18]),
    )


def identify_this_process() -> ProcessIdentity | None:
    """The current process; None on a machine without /proc."""
    with suppress(OSError):
        return identify_process(os.getpid())
    return None


def parse_process(text: str) -> ProcessIdentity | None:
    """Parse a process from its text; None for any other text."""
    try:
        host, boot, namespace, pid, started = text.split()
        return ProcessIdentity(
            host=host, boot=boot, namespace=int(namespace), pid=int(pid), started=int(started)
        )
    except ValueError:
        return None
