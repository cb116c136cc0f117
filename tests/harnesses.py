"""A process that has others' harnesses, beside that of the tests: their pins contradict ours.

They are installed without what they require, next to the packages of the project, which they use
in our versions. Nothing in it reaches a network.
"""

import os
import socket
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

FOLDER = Path(sys.prefix) / "harnesses"
"""Where `make slow` installs them."""


def open_process(home):
    """Open the process, with `home` for all that harnesses store; errors are raised here."""
    return ProcessPoolExecutor(1, get_context("spawn"), _install, (str(home),))


def _install(home):
    for name in ("HOME", "XDG_CACHE_HOME", "HF_HOME", "LMUData", "EVALSCOPE_CACHE"):
        os.environ[name] = home
    os.environ["HF_HUB_OFFLINE"] = "1"
    socket.socket.connect = socket.getaddrinfo = _refuse
    sys.path.append(str(FOLDER))
    from tests.families import beside  # noqa: PLC0415 - which reads the variables

    beside.install()


def _refuse(*address):
    raise AssertionError(f"a connection to {address}")
