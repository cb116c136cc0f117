"""Copies of the project's code, and processes that run them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
_FOLDERS = ("assets", "generators", "metrics", "resources")
WITHIN_S = 900
"""How long a script may take, on however busy a machine: no test is of its speed."""


def copy_code(folder):
    """Copy the code that workers may import into a folder, and return it."""
    for name in _FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / name, folder / name, ignore=ignored)
    shutil.copy(PROJECT / "definitions.py", folder)
    return folder


def edit(path):
    """Add a line to a file, as a user does who changes what is drawn."""
    path.write_text(path.read_text() + "\nEDITED = True\n")


def run_python(script, *, folder=PROJECT, inside=(), are_warnings_errors=True, **variables):
    """Run a script in a folder whose code it imports first; returns the ended process.

    `inside` is a command that runs another, as in another namespace.
    """
    return subprocess.run(
        [*inside, sys.executable, *(["-W", "error"] * are_warnings_errors), "-c", script],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{folder}:{PROJECT}"} | variables,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
