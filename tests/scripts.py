"""The scripts at the root of the project, run by a process that has imported what they need."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_RUNS = """
import contextlib, io, json, os, runpy, sys, traceback

for line in sys.stdin:
    script, arguments, environment = json.loads(line)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv, code = [script, *arguments], 0
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            code = end.code
        except BaseException:
            code = traceback.print_exc() or 70
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


class Done(NamedTuple):
    """How a script ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


class Scripts:
    """Runs one script after another, each as if it were started anew, but for what is imported.

    The models are those of the first one.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUNS],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, script: str, *arguments: object, without: str = "", **environment: object
    ) -> Done:
        """What came of a script, in this process's environment and more."""
        said = os.environ | {name: str(value) for name, value in environment.items()}
        said.pop(without, None)
        self._process.stdin.write(json.dumps([script, [*map(str, arguments)], said]) + "\n")
        self._process.stdin.flush()
        return Done(*json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=60)
