"""Waiting for events, on however busy a machine."""

import time

WITHIN_S = 900
"""How long anything may take: no test is of its speed."""


def wait_for(condition, process=None, poll_s=0.02):
    """Wait until `condition()` is true, while `process` runs; returns the condition's value."""
    end = time.monotonic() + WITHIN_S
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        assert process is None or process.poll() is None, process.stderr
        time.sleep(poll_s)
    return value
