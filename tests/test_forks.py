"""Functions in processes that are forked from this one."""

import os
import time
from pathlib import Path

import pytest

from tests.forks import forked


def write(disk):
    """Write a file, say what else lies there, and who did it."""
    before = [*disk.iterdir()]
    (disk / "written").write_bytes(bytes(1_000_000))
    return before, (disk / "written").stat().st_size, os.getpid()


def hang(pids):
    """Wait, in this process and in one that it forks; `pids` is where they are named."""
    child = os.fork()
    with pids.open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(600 if child else 601)


def test_it_has_a_disk_of_its_own(tmp_path):
    (tmp_path / "mine").touch()
    before, size, pid = forked(write, tmp_path, disk=tmp_path)
    assert (before, size) == ([], 1_000_000)
    assert pid != os.getpid()
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_one_that_hangs_is_ended_with_what_it_has_forked(tmp_path, capfd):
    disk, pids = tmp_path / "disk", tmp_path / "pids"
    disk.mkdir()
    with pytest.raises(TimeoutError):
        forked(hang, pids, disk=disk, within_s=3)
    assert "in hang" in capfd.readouterr().err, "where it hung"
    named = pids.read_text().split()
    assert len(named) == 2
    until = time.monotonic() + 60
    while any(map(is_running, named)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(is_running, named))


def is_running(pid):
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
