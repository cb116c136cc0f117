"""Cores that this process may use, which in a container are fewer than the machine has."""

import os
from collections.abc import Iterator
from contextlib import suppress
from math import ceil
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


def count_cores() -> int:
    """Count the cores that affinity and control groups leave to this process; at least one."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min([cores, *map(ceil, _read_quotas())]))


def _read_quotas() -> Iterator[float]:
    """Read the processor time that each control group above this process has, in cores."""
    with suppress(OSError):
        for line in _OWN_CGROUP.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                root, read = _CGROUPS, _read_quota
            elif "cpu" in controllers.split(","):
                root, read = _CGROUPS / "cpu", _read_quota_v1
            else:
                continue
            # In a container, what the path starts with may not be visible: the root is its own.
            folder = root / path.lstrip("/")
            for group in (folder, *folder.parents):
                if group.is_relative_to(root):
                    with suppress(OSError, ValueError):
                        yield read(group)


def _read_quota(group: Path) -> float:
    """Raises `ValueError` where the group has no limit ("max")."""
    quota, period = (group / "cpu.max").read_text().split()
    return int(quota) / int(period)


def _read_quota_v1(group: Path) -> float:
    quota = int((group / "cpu.cfs_quota_us").read_text())
    if quota < 0:
        raise ValueError("no limit")
    return quota / int((group / "cpu.cfs_period_us").read_text())
