"""After all the others: what is there when Ctrl-C has ended the server."""

import os
import signal
import time

import pytest

from tests.e2e.server import WITHIN_S, working_on
from tests.e2e.story import CANARY

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ended(story):
    """The story, with its server ended as a terminal does it."""
    os.killpg(story.server.pid, signal.SIGINT)
    deadline = time.monotonic() + WITHIN_S
    while (working := working_on(story.folder / "instance")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [process for process in working if process.is_running()]
    story.end()
    return story


def test_no_process_is_left(ended):
    assert working_on(ended.folder / "instance") == []


def test_the_key_is_written_nowhere(ended):
    everything = [path for path in ended.folder.rglob("*") if path.is_file()]
    assert len(everything) > 50
    assert [path for path in everything if CANARY.encode() in path.read_bytes()] == []
