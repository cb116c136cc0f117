"""As many workers as this process may use cores: fewer in a pod, or below `taskset`."""

import os
import subprocess
import sys

import pytest

from resources.execution import cores
from resources.execution.cores import count_cores

WORKERS = """
from resources.execution.cores import count_cores
from resources.execution.workers import map_in_workers
from tests.resources.execution.test_workers import keyed, where
print(count_cores(), len(set(dict(map_in_workers(where, keyed(range(40)))).values())))
"""


def test_one_core_by_affinity_is_one_worker():
    done = subprocess.run(
        ["taskset", "-c", str(min(os.sched_getaffinity(0))), sys.executable, "-c", WORKERS],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert done.stdout.split() == ["1", "1"]


@pytest.mark.parametrize(
    ("cgroup", "files", "count"),
    [
        ("0::/", {"cpu.max": "150000 100000"}, 2),
        ("0::/", {"cpu.max": "20000 100000"}, 1),
        ("0::/", {"cpu.max": "max 100000"}, 8),
        ("0::/pod/own", {"pod/cpu.max": "300000 100000", "pod/own/cpu.max": "max 100000"}, 3),
        ("0::/host/pod", {"cpu.max": "300000 100000"}, 3),
        ("0::/", {"cpu.max": "1600000 100000"}, 8),
        ("0::/", {}, 8),
        (
            "4:cpu,cpuacct:/a",
            {"cpu/a/cpu.cfs_quota_us": "50", "cpu/a/cpu.cfs_period_us": "10"},
            5,
        ),
        ("4:cpu,cpuacct:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "1000"}, 8),
        ("4:cpuset:/", {"cpu/cpu.cfs_quota_us": "5000", "cpu/cpu.cfs_period_us": "1000"}, 8),
    ],
)
def test_control_groups_limit_the_count(monkeypatch, tmp_path, cgroup, files, count):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    (tmp_path / "cgroup").write_text(cgroup + "\n")
    monkeypatch.setattr(cores, "_OWN_CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(cores, "_CGROUPS", tmp_path)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert count_cores() == count
