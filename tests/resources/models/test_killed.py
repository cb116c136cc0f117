"""Pulling the plug in the middle of a partition, again and again."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing

from tests.providers import provider_process

REQUESTS, CONCURRENCY, KILLS = 2000, 32, 10
AT_ONCE = CONCURRENCY * 3 // 2
"""On their way to the model, back, or to the disk."""

PARTITION = """
    import json, sys
    from resources.calls import writer
    from tests.resources.models import conftest as c

    writer._LEASE_S = 0.5
    root, url = sys.argv[1:]
    judge = c.Model.model_validate(
        {"name": "judge", "backend": "openai", "model": "test-1", "family": "test",
         "roles": ["judge"], "base_url": url, "concurrency": %d}
    )
    client = c.client_at(root)
    asked = client.ask(judge, c.looks(%d), c.LOG)
    client.close()
    client.calls.close()
    print(json.dumps([outcome.text for outcome in asked.outcomes]))
"""


def partition(root, url):
    script = "\n".join(line[4:] for line in PARTITION.splitlines()) % (CONCURRENCY, REQUESTS)
    return subprocess.Popen(
        [sys.executable, "-c", script, str(root), url], stdout=subprocess.PIPE, text=True
    )


def committed(root):
    with closing(sqlite3.connect(root / "calls.sqlite")) as database:
        return database.execute("SELECT count(*) FROM calls").fetchone()[0]


def test_ten_kills_cost_no_more_than_what_was_on_its_way(tmp_path):
    chance = random.Random(3)
    with provider_process(latency_s=0.03) as server:
        lost = []
        for kill in range(KILLS):
            before = server.received()["count"]
            process = partition(tmp_path, server.openai_url)
            goal = before + chance.randint(1, 250)
            while server.received()["count"] < goal:
                assert process.poll() is None, f"ended before kill {kill}"
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            lost.append(len(set(server.received()["digests"])) - committed(tmp_path))
        assert 0 < committed(tmp_path) < REQUESTS
        told, _ = partition(tmp_path, server.openai_url).communicate(timeout=60)
        sent = Counter(server.received()["digests"])
        assert len(sent) == REQUESTS == committed(tmp_path)
        assert max(lost) <= AT_ONCE
        assert sum(sent.values()) - REQUESTS <= sum(lost)
        assert sum(lost) > 0
        undisturbed, _ = partition(tmp_path / "again", server.openai_url).communicate(timeout=60)
        assert json.loads(told) == json.loads(undisturbed)
        assert len(json.loads(told)) == REQUESTS
