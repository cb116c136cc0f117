"""Pulling the plug in the middle of a partition, again and again."""

import random
import sqlite3
import time
from collections import Counter
from contextlib import closing

from tests.providers import provider_process
from tests.resources.models.partition import CONCURRENCY, LEASE_S, REQUESTS, ask, ended, started

KILLS = 5
AT_ONCE = CONCURRENCY * 3 // 2
"""On their way to the model, back, or to the disk."""


def answers(root, url):
    return ended(*started(ask, root, url))


def committed(root):
    with closing(sqlite3.connect(root / "calls.sqlite")) as database:
        return database.execute("SELECT count(*) FROM calls").fetchone()[0]


def test_kills_cost_no_more_than_what_was_on_its_way(tmp_path):
    chance = random.Random(3)
    with provider_process(latency_s=0.03) as server:
        lost = []
        for kill in range(KILLS):
            goal = server.count + chance.randint(1, 60)
            server.plan(held_after=goal)
            process, _ = started(ask, tmp_path, server.openai_url)
            while server.count < goal:
                assert process.is_alive(), f"ended before kill {kill}"
                time.sleep(0.01)
            process.kill()
            process.join()
            # Else what the killed one had claimed would be left to the one after the next.
            time.sleep(LEASE_S)
            lost.append(len(set(server.received()["digests"])) - committed(tmp_path))
        server.plan(held_after=None)
        assert 0 < committed(tmp_path) < REQUESTS
        told = answers(tmp_path, server.openai_url)
        sent = Counter(server.received()["digests"])
        assert len(sent) == REQUESTS == committed(tmp_path)
        assert max(lost) <= AT_ONCE
        assert sum(sent.values()) - REQUESTS <= sum(lost)
        assert sum(lost) > 0
        assert told == answers(tmp_path / "again", server.openai_url)
        assert len(told) == REQUESTS
