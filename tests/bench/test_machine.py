"""The machine in words, and the memory of a process tree."""

import os
import subprocess
import sys

import pytest

from bench.machine import machine, peak_of, tree_memory

HOLD = """
import subprocess, sys
held = b'x' * 60_000_000
if len(sys.argv) > 1:
    subprocess.run([sys.executable, '-c', sys.argv[1]], stdin=sys.stdin)
sys.stdout.write('held')
sys.stdout.flush()
sys.stdin.read()
"""


def test_the_machine_is_named_in_one_line():
    line = machine()
    assert f"{os.cpu_count()} cores" in line
    assert "Python 3" in line
    assert "\n" not in line


@pytest.mark.skipif(sys.platform != "linux", reason="shared pages are told apart on Linux alone")
def test_memory_is_that_of_the_whole_tree():
    parent = [sys.executable, "-c", HOLD, HOLD]
    with subprocess.Popen(parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(4) == b"held"
        with peak_of(process.pid) as peak:
            now = tree_memory(process.pid)
            process.stdin.close()
            process.wait()
    assert now.processes == 2
    assert 120e6 < now.proportional <= now.resident < 200e6
    assert peak.processes <= 2
    assert tree_memory(process.pid).processes == 0
