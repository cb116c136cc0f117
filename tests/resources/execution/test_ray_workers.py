"""Work on a Ray cluster: its results, its errors, and what becomes of it when something dies."""

import hashlib
import json
import signal
import socket

import psutil
import pytest

from resources.execution.ray_cluster import RayUnavailable, connect_to_ray
from tests.code_trees import run_python
from tests.ports import free_port
from tests.ray_cluster import EDITED
from tests.waiting import wait_for

SLOW_WORK = "from tests.slow_work import print_digests; print_digests({})"


@pytest.mark.slow
def test_all_slow_work_has_the_same_bytes_in_process_in_processes_and_on_ray(ray_cluster):
    in_process, in_processes, on_ray = (
        run_python(SLOW_WORK.format(False)),
        run_python(SLOW_WORK.format(True)),
        ray_cluster.run(SLOW_WORK.format(True)),
    )
    assert in_process.returncode == 0, in_process.stderr
    digests = json.loads(in_process.stdout)
    assert len(digests) == 6
    for ended in (in_processes, on_ray):
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout) == digests


KILLED = """
import json, os, signal
from pathlib import Path
from tests.resources.execution.test_workers import begin, die_at_seven, keyed
from resources.execution.workers import WorkerDied, find_workers, map_in_workers
handler = signal.getsignal(signal.SIGTERM)
workers = find_workers()
assert signal.getsignal(signal.SIGTERM) is handler
folder, results = Path({folder!r}), dict()
for key, digest in map_in_workers(begin, ((n, (folder, n)) for n in range(200))):
    results[key] = digest
    if key in {killed}:
        # What was begun last is at work.
        last = max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        os.kill(int(last.read_text().split()[-1]), signal.SIGKILL)
done = []
try:
    for key, number in map_in_workers(die_at_seven, keyed(range(20))):
        done.append(number)
except WorkerDied as death:
    error = str(death)
report = {{"keys": list(results), "digests": list(results.values()), "done": done, "error": error}}
folder.with_suffix(".json").write_text(json.dumps(report))
"""


@pytest.mark.slow
def test_killed_workers_cost_what_they_had_and_a_poison_item_is_named(ray_cluster, tmp_path):
    reports, begun = {}, {}
    for name, killed in {"undisturbed": (), "killed": (50, 100, 150)}.items():
        folder = tmp_path / name
        folder.mkdir()
        ended = ray_cluster.run(KILLED.format(folder=str(folder), killed=killed))
        assert ended.returncode == 0, ended.stderr
        reports[name] = json.loads((tmp_path / f"{name}.json").read_text())
        begun[name] = [line for path in folder.iterdir() for line in path.read_text().splitlines()]
    assert reports["killed"] == reports["undisturbed"]
    assert reports["killed"]["keys"] == list(range(200))
    digests = [hashlib.sha256(bytes([number])).hexdigest() for number in range(200)]
    assert reports["killed"]["digests"] == digests
    assert reports["killed"]["done"] == [number for number in range(20) if number != 7]
    assert reports["killed"]["error"].startswith("The system ended 3 worker processes at 7, ")
    assert len(begun["undisturbed"]) == 200
    # A dead worker had a chunk of at most eight items, or had just done them all.
    assert 200 <= len(begun["killed"]) <= 200 + 3 * 8
    assert len({*begun["killed"]}) > len({*begun["undisturbed"]}), "the dead were replaced"


OTHER_CODE = """
from generators.sketch import paint_sketch
from generators.worker_jobs import DrawJob, draw_png
from generators.domains import load_domain
from resources.execution.worker_tasks import OtherCode
from resources.execution.workers import find_workers
[scene, *_] = load_domain("flags").draw_module.list_scenes(seed=0)
print(len(find_workers().submit(draw_png, DrawJob("flags", scene, 64)).result()))
try:
    find_workers().submit(paint_sketch, "two red kites", "0/0").result()
except OtherCode as error:
    print(error)
"""


@pytest.mark.slow
def test_a_worker_with_other_code_refuses_what_depends_on_it(ray_cluster):
    ended = ray_cluster.run(OTHER_CODE, folder=ray_cluster.code)
    assert ended.returncode == 0, ended.stderr
    size, error = ended.stdout.splitlines()
    assert int(size) > 100
    assert f"worker on {socket.gethostname()} has other code in {ray_cluster.code}" in error
    assert f"started with: {EDITED}. It computed nothing" in error
    assert "Install the same version" in error


LEFT = """
import os, signal
from tests.resources.execution.test_workers import keyed, where
from resources.execution.workers import map_in_workers
print(*set(dict(map_in_workers(where, keyed(range(20)))).values()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_workers_on_ray_end_with_a_process_that_is_killed(ray_cluster):
    ended = ray_cluster.run(LEFT)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    pids = [int(pid) for pid in ended.stdout.split()]
    assert pids, ended.stderr
    wait_for(lambda: not any(map(psutil.pid_exists, pids)))


@pytest.mark.parametrize(
    "address", ["auto", "local", "http://127.0.0.1:8265", "10.0.0.1", "h:port"]
)
def test_what_is_no_address_of_a_cluster_is_refused_at_once(address):
    with pytest.raises(RayUnavailable, match=r"is not the address of a Ray cluster\. Set "):
        connect_to_ray(address)


def test_a_cluster_that_is_not_there_is_named_with_what_to_do():
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(RayUnavailable, match=rf"at {address} cannot be reached .*`ray start"):
        connect_to_ray(address)
