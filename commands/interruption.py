"""Ctrl-C and SIGTERM: both interrupt a command, which says what is kept and ends with its code."""

import signal
import socket
from contextlib import suppress
from types import FrameType
from typing import NoReturn

FIRST_CODE = 128
"""A shell gives a command that a signal has ended this code and the signal's number."""


class SignalLog:
    """Signals that this process has got, also while Dagster handles them and forgets which."""

    def __init__(self) -> None:
        self._reader: socket.socket | None = None
        self._number: int | None = None

    def open(self) -> None:
        """Note signals from now on, and let SIGTERM raise KeyboardInterrupt as Ctrl-C does.

        A script starts a command in its background with Ctrl-C ignored. Dagster gives SIGTERM the
        handler of Ctrl-C, so both end it there as well.
        """
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, self._interrupt)

    def _interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        self._number = self._number or number
        signal.default_int_handler(number, frame)

    def find_interrupt(self) -> int | None:
        """Return the first signal that was to interrupt this process."""
        if self._number is None and self._reader is not None:
            with suppress(BlockingIOError):
                interrupts = (signal.SIGINT, signal.SIGTERM)
                received = self._reader.recv(1000)
                self._number = next(filter(interrupts.__contains__, received), None)
        return self._number

    @property
    def exit_code(self) -> int:
        """The exit code of a command that was interrupted."""
        return FIRST_CODE + (self.find_interrupt() or signal.SIGINT)


signal_log = SignalLog()
