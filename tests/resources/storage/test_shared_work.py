"""Finished work on a server that machines share: nothing is done twice, and nothing is lost."""

import json
import os
import random
import re
import signal
import time
from contextlib import closing
from threading import Event, Thread

import pytest

import resources.database.database
from resources.execution import work_loop
from resources.faults import UnreachableStore
from resources.storage import work_claims
from resources.storage.chunks import split_into_chunks
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.ports import free_port
from tests.postgres import PASSWORD, Postgres, installed
from tests.resources.storage.drawing import draw, draw_all, read_log
from tests.waiting import wait_for

COUNT = 120
HOUR = 3600

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    """A server that may be stopped."""
    if not installed():
        pytest.skip("no PostgreSQL server is installed")
    with Postgres() as server:
        yield server


@pytest.fixture
def start(forks, tmp_path):
    """Start a machine that draws: a home of its own, and its clock set wrong by some seconds."""

    def start(url, home, lease=20.0, shift=0):
        arguments = (url, tmp_path, COUNT, lease, shift)
        return forks.start(
            "-c",
            "from tests.resources.storage.drawing import main; main()",
            *(tmp_path / home, *arguments),
        )

    return start


def read_output(program):
    out, err = program.communicate()
    assert program.returncode == 0, err
    return json.loads(out)


def count_drawn(folder):
    return len(read_log(folder)) if (folder / "drawn").exists() else 0


def test_a_second_home_draws_nothing(server, tmp_path):
    url = server.database()
    first = draw_all(tmp_path / "one", url, tmp_path, COUNT)
    second = draw_all(tmp_path / "two", url, tmp_path, COUNT)
    assert (first.done, second.done) == (COUNT, 0)
    assert second.results == first.results
    assert sorted(read_log(tmp_path)) == list(range(COUNT))
    assert not list(tmp_path.rglob("work.*"))


def test_two_machines_whose_clocks_differ_draw_each_picture_once(server, tmp_path, start):
    url = server.database()
    machines = [start(url, f"home {shift}", shift=shift) for shift in (0, HOUR)]
    (one, pictures), (other, others) = map(read_output, machines)
    assert pictures == others
    assert list(map(int, pictures)) == list(range(COUNT))
    assert one + other == COUNT
    assert one > 0 < other
    assert sorted(read_log(tmp_path)) == list(range(COUNT))
    with closing(WorkCache(root=str(tmp_path), calls_url=url)) as work_cache:
        assert work_cache.count_stale_claims(-2 * HOUR) == 0


def test_the_work_of_a_killed_machine_is_taken_over_after_the_lease(server, tmp_path, start):
    url = server.database()
    works = [f"{number:064}" for number in range(COUNT)]
    killed = start(url, "killed", lease=2.0)
    with closing(WorkCache(root=str(tmp_path), calls_url=url)) as work_cache:
        wait_for(lambda: work_cache.find_results(works), killed)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        kept = work_cache.find_results(works)
        assert work_cache.count_stale_claims(-HOUR) > 0
    done, pictures = read_output(start(url, "other", lease=2.0))
    assert done == COUNT - len(kept)
    assert len(pictures) == COUNT
    assert len(kept) >= 10


def test_a_claim_is_renewed_for_as_long_as_its_work_takes(server, tmp_path, monkeypatch):
    monkeypatch.setattr(work_claims, "LEASE_S", 3.0)
    url = server.database()
    caches = [WorkCache(root=str(tmp_path / name), calls_url=url) for name in ("one", "two")]
    with (
        closing(caches[0]),
        closing(caches[1]),
        closing(caches[0].open_claims()) as claims,
        closing(caches[1].open_claims()) as others,
    ):
        assert claims.take(["a", "b"]).keys == {"a", "b"}
        until = time.monotonic() + 5
        while time.monotonic() < until:
            assert others.take(["a", "b", "c"]).keys == {"c"}
            time.sleep(0.05)
        claims.record({"a": 1})
        assert others.take(["a", "b"]) == ({"a"}, {"a": 1})
        claims.close()
        assert others.take(["b"]).keys == {"b"}


def test_a_server_that_restarts_while_pictures_are_drawn_loses_none(
    server, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(resources.database.database, "_RETRY_S", 0.05)
    monkeypatch.setattr(work_loop, "_FIRST_CHUNK", 10)
    monkeypatch.setattr(work_loop, "_LARGEST_CHUNK", 10)
    url, begun = server.database(), Event()

    def restart():
        wait_for(lambda: count_drawn(tmp_path) > 30)
        server.stop()
        begun.set()
        time.sleep(3)
        server.start()

    interruption = Thread(target=restart)
    interruption.start()
    drawn = draw_all(tmp_path / "home", url, tmp_path, COUNT)
    interruption.join()
    assert begun.is_set()
    assert drawn.done == COUNT
    assert sorted(read_log(tmp_path)) == list(range(COUNT))
    assert "what is finished meanwhile is held" in caplog.text
    assert draw_all(tmp_path / "two", url, tmp_path, COUNT).done == 0
    images = ImageStore(root=str(tmp_path))
    assert all(images.get(digest) == draw((os.devnull, n)) for n, digest in drawn.results.items())


def test_who_may_not_write_claims_still_works_and_hears_of_it_when_it_records(
    server, tmp_path, caplog
):
    url = server.database()
    with closing(WorkCache(root=str(tmp_path), calls_url=url)) as work_cache:
        work_cache.record({"a": 1})
    read_only = f"{url}?options=-c%20default_transaction_read_only%3Don"
    with closing(WorkCache(root=str(tmp_path), calls_url=read_only)) as reader:
        assert reader.find_results(["a"]) == {"a": 1}
        with closing(reader.open_claims()) as claims:
            assert claims.take(["b"]) == ({"b"}, {})
        assert "Work is done without claims" in caplog.text


def test_its_password_is_shown_nowhere(server, tmp_path):
    url = server.database()
    work_cache = WorkCache(root=str(tmp_path), calls_url=url)
    elsewhere = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{free_port()}", url)
    away = WorkCache(root=str(tmp_path), calls_url=elsewhere)
    with pytest.raises(UnreachableStore) as error:
        away.find_results(["a"])
    shown = f"{work_cache!r} {work_cache} {error.value}"
    assert PASSWORD not in shown
    assert url not in shown
    assert "s3cret" not in shown


def test_machines_that_want_the_same_keys_never_wait_for_each_other(server, tmp_path, caplog):
    """Neither holds a row that the other wants while it wants one that the other holds."""
    url, ended = server.database(), []
    keys = [f"{number:064}" for number in range(200)]

    def work(name):
        with closing(WorkCache(root=str(tmp_path / name), calls_url=url)) as work_cache:
            for _ in range(30):
                with closing(work_cache.open_claims()) as claims:
                    for chunk in split_into_chunks(random.sample(keys, len(keys)), 100):
                        claimed = sorted(claims.take(chunk).keys, reverse=True)
                        claims.record(dict.fromkeys(claimed, name))
        ended.append(name)

    threads = [Thread(target=work, args=[name]) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == ["one", "three", "two"]
    assert "deadlock" not in caplog.text
