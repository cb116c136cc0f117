"""Figures: what a case of the benchmark measures, and child processes that measure one thing."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Figure(NamedTuple):
    """One measured value; `limit` is what it is to stay at or below on two idle cores."""

    what: str
    value: float
    unit: str
    limit: float | None = None
    note: str = ""

    def __str__(self) -> str:
        """Format one line of the table."""
        line = f"{self.what:<64} {self.value:>9.2f} {self.unit}".rstrip()
        if self.limit is not None:
            held = "held" if self.value <= self.limit else "MISSED"
            line += f", at most {self.limit:g}: {held}"
        return f"{line} ({self.note})" if self.note else line


class Unmeasured(NamedTuple):
    """What cannot be measured on this machine, and why."""

    what: str
    why: str

    def __str__(self) -> str:
        """Format one line of the table."""
        return f"{self.what:<64} not measured: {self.why}"


def in_a_process(module: str, *arguments: object, environment: Mapping[str, str] = {}) -> Any:
    """What `answer` of a module prints, run by itself: its memory is then its own.

    Raises `subprocess.CalledProcessError` where it fails.
    """
    command = [sys.executable, "-m", module, *map(str, arguments)]
    given = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    return json.loads(given.stdout)


def answer(work: Callable[..., Any]) -> None:
    """Print what `work` gives for the command line's arguments."""
    sys.stdout.write(json.dumps(work(*sys.argv[1:])))
