"""A Ray cluster of one node in namespaces of its own, where nothing but loopback can be reached.

Ray's servers run whatever they are sent, so that tokens are required as well. The node sees another
version of the code at one path, as another machine may.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from secrets import token_hex

from tests.code_trees import copy_code, edit, run_python
from tests.waiting import wait_for

EDITED = "generators/sketch.py"
# As nice as Ray makes them, its workers would get little of a CPU that other tests use.
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
_START = """
ip link set lo up
mount --bind "$1" "$2"
exec "$3" -c "$5" "$4"
"""
_HEAD = """
import signal, sys
import ray
for attempt in range(3):
    try:
        node = ray.init(
            num_cpus=2,
            num_gpus=2,
            object_store_memory=100_000_000,
            dashboard_host="127.0.0.1",
            log_to_driver=False,
            _node_ip_address="127.0.0.1",
            _temp_dir=sys.argv[1],
        )
        break
    except Exception:  # Ray waits 30 s for its own processes, which a busy machine may exceed.
        ray.shutdown()
        if attempt == 2:
            raise
print("ready", node.address_info["gcs_address"], node.dashboard_url, flush=True)
signal.sigwait([signal.SIGTERM])
"""


class RayCluster:
    """A head node with two CPUs: `with RayCluster() as cluster: cluster.run(script)`.

    It counts two GPUs, which are not there.
    """

    def __init__(self):
        # Short, for the addresses of sockets in it.
        self._folder = Path(tempfile.mkdtemp(prefix="ray"))
        self._log = self._folder / "log"
        self.code = copy_code(self._folder / "code")
        """The project's code; the cluster sees another `EDITED` there."""
        self.address, self.dashboard = "", ""
        self._token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex()}

    def __enter__(self):
        other = copy_code(self._folder / "other")
        edit(other / EDITED)
        arguments = (other, self.code, sys.executable, self._folder, _HEAD)
        with self._log.open("wb") as log:
            self._head = subprocess.Popen(
                [
                    *("unshare", "--map-root-user", "--net", "--mount"),
                    *("sh", "-ec", _START, "sh", *map(str, arguments)),
                ],
                stdout=log,
                stderr=log,
                env=os.environ | _SETTINGS | self._token,
            )
        try:
            wait_for(lambda: self._has_ended() or "\nready " in self.log, poll_s=0.2)
            assert not self._has_ended(), self.log
        except BaseException:
            self.__exit__()
            raise
        self.address, dashboard = self.log.partition("\nready ")[2].split()
        self.dashboard = f"http://{dashboard}"
        return self

    def __exit__(self, *_):
        self._head.send_signal(signal.SIGTERM)
        try:
            self._head.wait(60)
        except subprocess.TimeoutExpired:
            self._head.kill()
            self._head.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def log(self):
        """What the node has written."""
        return self._log.read_text(errors="replace")

    @property
    def inside(self):
        """A command that runs another where the cluster can be reached."""
        pid = str(self._head.pid)
        return ("nsenter", "--target", pid, "--user", "--net", "--preserve-credentials", "--")

    def run(self, script, **options):
        """Run a script that may reach the cluster, and whose work goes there."""
        options = {"COUNTERFACTORY_RAY_ADDRESS": self.address} | self._token | options
        return run_python(script, inside=self.inside, **options)

    def _has_ended(self):
        return self._head.poll() is not None
