"""What happens to the stores while models are asked: over real HTTP, through the client."""

import threading
from collections import Counter
from contextlib import closing, contextmanager

import pytest

import resources.calls.write_thread
import resources.database.database
from resources.calls import CallStore
from resources.faults import UnreachableStore, UnwritableStore
from resources.models import recording
from resources.models.client import ModelClient
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import PaintRequest
from resources.storage.image_store import ImageStore
from tests.postgres import Postgres, installed
from tests.providers import faults, provider_process
from tests.resources.calls.calling import end_lease
from tests.resources.models.conftest import LOG, closed, looks, model
from tests.resources.models.partition import ask_from, ended, started
from tests.waiting import wait_for

with_postgres = pytest.mark.skipif(not installed(), reason="no PostgreSQL server is installed")


@pytest.fixture(scope="module")
def database():
    """A PostgreSQL server that may be stopped."""
    with Postgres() as database:
        yield database


@contextmanager
def client_of(url, root):
    client = ModelClient(calls=CallStore(url=url), images=ImageStore(root=str(root)))
    try:
        yield client
    finally:
        closed(client)


def stored(url, root, server):
    """How many of the questions a new client finds answered."""
    with client_of(url, root) as client:
        return client.ask(model(server), looks(200), LOG).already_stored


@with_postgres
def test_a_database_that_goes_away_and_comes_back_costs_nothing(
    server, database, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(resources.database.database, "_RETRY_S", 0.05)
    server.shares({faults.SERVER_ERROR: 0.05})
    url, away = database.database(), threading.Event()
    server.held = lambda received: server.count > 50 and not away.is_set()

    def interrupt():
        wait_for(lambda: server.count > 50)
        database.stop()
        away.set()
        wait_for(lambda: "cannot be reached" in caplog.text)
        database.start()

    interruption = threading.Thread(target=interrupt)
    interruption.start()
    with client_of(url, tmp_path) as client:
        asked = client.ask(model(server, concurrency=8), looks(200), LOG)
    interruption.join()
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in asked.outcomes)
    answered = Counter(r.digest for r in server.received)
    assert len(answered) == 200
    assert server.count == asked.sent
    assert "cannot be reached" in caplog.text
    server.clear()
    before = server.count
    assert stored(url, tmp_path, server) == 200
    assert server.count == before


@with_postgres
def test_a_database_that_stays_away_stops_the_run_and_loses_at_most_what_was_on_its_way(
    server, database, tmp_path, monkeypatch
):
    monkeypatch.setattr(resources.database.database, "_RETRY_S", 0.05)
    monkeypatch.setattr(resources.database.database, "_PATIENCE_S", 0.3)
    monkeypatch.setattr(resources.calls.write_thread, "LEASE_S", 0.5)
    url, away = database.database(), threading.Event()
    server.held = lambda received: server.count > 50 and not away.is_set()

    def interrupt():
        wait_for(lambda: server.count > 50)
        database.stop()
        away.set()

    interruption = threading.Thread(target=interrupt)
    interruption.start()
    told = pytest.raises(UnreachableStore, match=r"PostgreSQL at 127\.0\.0\.1.*Start it")
    with client_of(url, tmp_path) as client, told:
        client.ask(model(server, concurrency=8), looks(200), LOG)
    interruption.join()
    count = server.count
    assert count < 200
    database.start()
    kept = stored(url, tmp_path, server)
    assert count - 12 <= kept <= count
    assert server.count == count + 200 - kept


CONCURRENCY, REQUESTS = 8, 120


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=with_postgres)])
def test_of_three_processes_that_ask_the_same_one_may_be_killed(kind, request, tmp_path):
    url = f"sqlite:///{tmp_path}/calls.sqlite"
    if kind == "postgresql":
        url = request.getfixturevalue("database").database()
    with provider_process() as server:
        server.plan(held_after=2 * 3 * CONCURRENCY)
        told_to = url, tmp_path, server.openai_url
        three = [
            started(ask_from, *told_to, first, REQUESTS, CONCURRENCY) for first in (40, 80, 120)
        ]
        for _, pipe in three:
            assert pipe.recv() == "ready"
        for _, pipe in three:
            pipe.send("go")
        wait_for(lambda: server.count >= 3 * 3 * CONCURRENCY)
        killed, _ = three[0]
        killed.kill()
        killed.join()
        end_lease(url, killed.pid)
        server.plan(held_after=None)
        told = [ended(*each) for each in three[1:]]
        sent = Counter(server.received()["digests"])
    (one, first), (other, second) = told
    assert first == second
    assert len(first) == len(sent) == REQUESTS
    assert CONCURRENCY <= sum(sent.values()) - REQUESTS <= CONCURRENCY * 3 // 2
    assert max(sent.values()) == 2
    assert REQUESTS - 2 * 3 * CONCURRENCY <= one + other <= REQUESTS


FULL_DISK = """
import os, sys
from contextlib import suppress
from pathlib import Path
from resources.faults import DiskFull
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import PaintRequest
from tests.providers import Provider
from tests.resources.models import conftest as c

disk, kind = Path(sys.argv[1]), sys.argv[2]
filler = disk / "filler"
MANY, CONCURRENCY, FILLED_AT = 24, 4, 8
requests = {
    "answers": c.looks(MANY),
    "pictures": [PaintRequest(f"A dog with {legs} legs") for legs in range(MANY)],
}[kind]


def fill():
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def png(received):
    image = c.Image.frombytes("RGB", (96, 96), os.urandom(96 * 96 * 3))
    data = c.io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


os.environ["OPENAI_API_KEY"] = "sk-full"
with Provider() as server:
    server.answer = {"answers": lambda _: os.urandom(15_000).hex(), "pictures": png}[kind]
    entry = c.model(server, concurrency=CONCURRENCY)
    # Somebody else fills the disk in the middle of it, to the last byte.
    answered = server.answer
    server.answer = lambda got: (fill() if server.count == FILLED_AT else None, answered(got))[1]
    client = c.client_at(disk)
    try:
        client.ask(entry, requests, c.LOG)
    except DiskFull as error:
        print(error)
    first = server.count
    assert FILLED_AT <= first <= FILLED_AT + 2 * CONCURRENCY, first
    c.closed(client)
    filler.unlink()
    client = c.client_at(disk)
    asked = client.ask(entry, requests, c.LOG)
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in asked.outcomes), asked.outcomes
    # All that was paid for was stored, in the room that was kept for it.
    assert (asked.already_stored, server.count) == (first, MANY)
    assert client.ask(entry, requests, c.LOG).outcomes == asked.outcomes
    for outcome in asked.outcomes:
        for digest in outcome.images:
            client.images.get(digest)
    c.closed(client)
print("whole")
"""


@pytest.mark.parametrize("kind", ["answers", "pictures"])
def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path, forks, kind):
    disk = tmp_path / "disk"
    disk.mkdir()
    (tmp_path / "program.py").write_text(FULL_DISK)
    done = forks.run(tmp_path / "program.py", disk, kind, disk=disk)
    told, _, end = done.stdout.strip().rpartition("\n")
    assert end == "whole", done.stderr
    assert told.startswith(f"No space is left to write {disk}")


def test_where_no_picture_can_be_kept_none_is_asked_for(server, client, tmp_path):
    (tmp_path / "file").touch()
    images = ImageStore(root=str(tmp_path / "file"))
    with closing(ModelClient(calls=client.calls, images=images)) as blocked:
        with pytest.raises(UnwritableStore, match=f"{tmp_path}/file/images cannot be written"):
            blocked.ask(model(server), [PaintRequest("A dog")], LOG)
        assert server.count == 0
        # What makes no pictures needs no place for them.
        assert blocked.ask(model(server), looks(1), LOG).sent == 1


def test_a_picture_that_cannot_be_stored_is_held_until_it_can(server, client, monkeypatch, caplog):
    put, refused = ImageStore.put, []

    def away(self, png):
        if len(refused) < 3:
            refused.append(png)
            raise UnreachableStore("The images cannot be reached.")
        return put(self, png)

    monkeypatch.setattr(ImageStore, "put", away)
    monkeypatch.setattr(recording, "HOLD_RETRY_S", 0.01)
    entry, requests = model(server, concurrency=1), [PaintRequest(f"{n} dogs") for n in range(9)]
    with pytest.raises(UnreachableStore):
        client.ask(entry, requests, LOG)
    assert "Paid pictures are held for 5 min" in caplog.text
    first = server.count
    assert first < 9
    asked = client.ask(entry, requests, LOG)
    assert (asked.already_stored, server.count) == (first, 9)
