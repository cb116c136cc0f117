"""What goes wrong outside: nothing paid for is lost, and the message names the thing to do."""

import asyncio
import re
import sqlite3
import sys
import threading
import time
import traceback
from contextlib import closing

import psycopg2
import pytest
from sqlalchemy import text

import resources.database.database
import resources.database.postgres
import resources.database.sqlite
from resources.calls import CallStore
from resources.faults import (
    CorruptItem,
    MissingItem,
    StoreBusy,
    StoreError,
    UnreachableStore,
    UnusableStore,
    UnwritableStore,
)
from tests.postgres import PASSWORD, Postgres, installed
from tests.resources.calls.calling import Model, call, keys, once


def overwritten_in_the_middle(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xab" * (len(whole) - 8192) + whole[-4096:])


def torn_off(path):
    path.write_bytes(path.read_bytes()[:8192])


def no_database(path):
    path.write_bytes(b"this is no database, whatever its name says" * 99)


def emptied(path):
    path.write_bytes(b"")


def without_tables(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE other (x)")


class TestDamage:
    @pytest.fixture
    def path(self, tmp_path):
        """A file with many answers."""
        path = tmp_path / "calls.sqlite"
        with closing(CallStore(url=f"sqlite:///{path}")) as store:
            asyncio.run(Model().all_of(store, range(600)))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return path

    @pytest.mark.parametrize(
        "damage",
        [overwritten_in_the_middle, torn_off, no_database, emptied, without_tables],
        ids=lambda damage: damage.__name__,
    )
    def test_it_is_named_and_left_alone_and_nothing_is_asked(self, path, opened, damage):
        damage(path)
        damaged, model = path.read_bytes(), Model()
        store = opened(f"sqlite:///{path}")
        told = (
            rf"{path} is damaged \(.+\).*nothing is sent.*Restore a copy.*sqlite3 {path} .recover"
        )
        with pytest.raises(CorruptItem, match=told):
            store.find_calls(keys(600))
        with pytest.raises(CorruptItem, match=told):
            asyncio.run(model.all_of(store, range(600)))
        store.close()
        assert model.asked == []
        assert path.read_bytes() == damaged
        assert [found.name for found in path.parent.iterdir() if "calls" in found.name] == [
            path.name
        ]


@pytest.fixture(scope="module")
def fragile():
    """A server that may be stopped."""
    if not installed():
        pytest.skip("no PostgreSQL server is installed")
    with Postgres() as fragile:
        yield fragile


class TestAway:
    @pytest.fixture(autouse=True)
    def _often(self, monkeypatch):
        monkeypatch.setattr(resources.database.database, "_RETRY_S", 0.05)

    def test_what_was_answered_while_it_was_away_is_kept(self, fragile, opened, caplog):
        url = fragile.database()
        store, model, away = opened(url), Model(), threading.Event()

        def interrupt():
            while not model.asked:
                time.sleep(0.01)
            fragile.stop()
            away.set()
            while "what is finished meanwhile is held" not in caplog.text:
                time.sleep(0.01)
            fragile.start()

        def asking(number):
            async def ask():
                answer = await model.asking(number)()
                while not away.is_set():
                    await asyncio.sleep(0.01)
                return answer

            return ask

        async def main():
            at_once = asyncio.Semaphore(8)

            async def one(number):
                async with at_once:
                    return await once(store, call(number).key, asking(number))

            return await asyncio.gather(*(one(number) for number in range(40)))

        interruption = threading.Thread(target=interrupt)
        interruption.start()
        asyncio.run(main())
        interruption.join()
        assert sorted(model.asked) == list(range(40))
        assert len(opened(url).find_calls(keys(40))) == 40
        assert "cannot be reached" in caplog.text

    def test_after_minutes_it_gives_up(self, fragile, opened, monkeypatch):
        monkeypatch.setattr(resources.database.database, "_PATIENCE_S", 0.3)
        store, model = opened(fragile.database()), Model(seconds=0.2)

        async def main():
            asking = asyncio.create_task(model.all_of(store, range(3)))
            while len(model.asked) < 3:
                await asyncio.sleep(0.01)
            fragile.stop()
            with pytest.raises(
                UnreachableStore, match=r"PostgreSQL at 127.0.0.1:\d+/calls_.* Start it.* Waited"
            ):
                await asking

        asyncio.run(main())
        with pytest.raises(UnreachableStore):
            store.find_calls(keys(3))
        fragile.start()
        asyncio.run(Model().all_of(store, range(3)))

    def test_to_give_up_a_claim_nobody_waits(self, fragile, opened, caplog):
        store, model = opened(fragile.database()), Model(seconds=60)

        async def main():
            asking = asyncio.create_task(model.all_of(store, [1]))
            while not model.asked:
                await asyncio.sleep(0.01)
            fragile.stop()
            asking.cancel()

        asyncio.run(main())
        store.close()
        fragile.start()
        assert "Claims were not renewed or given up" in caplog.text
        assert "Waiting for" not in caplog.text

    def test_one_that_stalls_does_not_hold_up_others_for_long(self, fragile, opened, monkeypatch):
        url, attempts = fragile.database(), []
        claims = "SELECT count(*) FROM pg_locks WHERE relation = 'claims'::regclass"

        def stall_once(connection, sql):
            attempts.append(sql.claims.claim(connection, ["key"], "me", 60))
            if len(attempts) == 1:
                # The connection that it is tried again on may stall for longer.
                monkeypatch.setattr(resources.database.postgres, "_IDLE_MS", 600_000)
                with closing(psycopg2.connect(url)) as other, other.cursor() as cursor:
                    while cursor.execute(claims) or cursor.fetchone() != (0,):
                        time.sleep(0.01)

        monkeypatch.setattr(resources.database.postgres, "_IDLE_MS", 200)
        store = opened(url)
        store._start().database.run(stall_once)
        assert attempts == [{"key"}, {"key"}]

    def test_leases_that_ended_while_it_was_away_may_still_be_renewed(self, fragile, opened):
        claims = []

        def claim(connection, sql):
            claims.append(sql.claims.claim(connection, ["key"], "before", -5))
            claims.append(sql.claims.claim(connection, ["key"], "other", 3600))
            claims.append(sql.claims.claim(connection, ["key"], "before", -5))
            time.sleep(0.02)
            claims.append(sql.claims.claim(connection, ["key"], "other", 0.01))

        opened(fragile.database())._start().database.run(claim)
        # It was started less than an hour ago, but more than a hundredth of a second.
        assert claims == [{"key"}, set(), {"key"}, {"key"}]


def told(url):
    """All that a reader of the error sees."""
    with pytest.raises(StoreError) as caught, closing(CallStore(url=url)) as store:
        store.find_calls(["key"])
    return caught.type, "".join(traceback.format_exception(caught.value))


SECRET = "hunter2"


def test_a_link_to_nothing_is_named_and_nothing_is_made_there(tmp_path):
    (tmp_path / "calls.sqlite").symlink_to(tmp_path / "not mounted")
    store = CallStore(url=f"sqlite:///{tmp_path}/calls.sqlite")
    with pytest.raises(MissingItem, match="not mounted, which is not there"):
        store.find_calls(["a" * 64])
    assert not (tmp_path / "not mounted").exists()


@pytest.mark.parametrize(
    ("url", "error", "says"),
    [
        (
            f"mysql://me:{SECRET}@host/calls",
            UnusableStore,
            "cannot be kept in 'mysql'.*sqlite:////",
        ),
        (f"{SECRET}", UnusableStore, "cannot be read"),
        (
            f"postgresql://me:x@host:{SECRET}/calls",
            UnusableStore,
            "cannot be read.*percent-encoded",
        ),
        (f"postgresql://me:{SECRET}@{SECRET}@host/calls", UnusableStore, "names no database"),
        (f"postgresql://me:{SECRET}@host", UnusableStore, "names no database"),
        ("sqlite://", UnusableStore, "names no file"),
        ("sqlite:///:memory:", UnusableStore, "names no file"),
        (
            f"postgres://me:{SECRET}@127.0.0.1:1/calls?sslpassword={SECRET}",
            UnreachableStore,
            r"PostgreSQL at 127.0.0.1:1/calls cannot be reached \(.*Connection refused.*Start it",
        ),
    ],
)
def test_a_url_that_leads_nowhere_is_an_error_without_its_password(url, error, says):
    kind, message = told(url)
    assert kind is error
    assert re.search(says, message, re.DOTALL), message
    assert SECRET not in message
    assert SECRET not in repr(CallStore(url=url))


def test_a_wrong_password_is_named_but_not_told(server):
    kind, message = told(server.database().replace(":s3cret", f":{SECRET}"))
    assert kind is UnreachableStore
    assert "password authentication failed" in message
    assert SECRET not in message
    assert PASSWORD not in message


def test_without_its_driver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    kind, message = told("postgresql://me:hunter2@host/calls")
    assert kind is UnusableStore
    assert "pip install 'counterfactory[postgres]'" in message


def test_where_a_folder_cannot_be_made_it_says_so(tmp_path):
    (tmp_path / "file").touch()
    kind, message = told(f"sqlite:///{tmp_path}/file/calls.sqlite")
    assert kind is UnwritableStore
    assert f"{tmp_path}/file/calls.sqlite cannot be written" in message


def test_a_database_that_is_read_only_says_so(server):
    url = server.database()
    with closing(CallStore(url=url)) as store:
        store.find_calls([])
        name = url.rpartition("/")[2]
        store._start().database.run(
            lambda connection, _: connection.execute(
                text(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
            )
        )
    read_only = pytest.raises(UnwritableStore, match=f"{name} cannot be written .*read-only")
    with closing(CallStore(url=url)) as store, read_only:
        asyncio.run(Model().all_of(store, [1]))


def test_one_that_is_locked_is_waited_for_and_then_named(tmp_path, opened, monkeypatch, caplog):
    monkeypatch.setattr(resources.database.database, "_RETRY_S", 0.05)
    monkeypatch.setattr(resources.database.sqlite, "_LOCKED_S", 0.05)
    path, model = tmp_path / "calls.sqlite", Model()
    store = opened(f"sqlite:///{path}")
    store.find_calls([])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        async def main():
            asking = asyncio.create_task(model.all_of(store, [1]))
            while "keeps" not in caplog.text:
                await asyncio.sleep(0.01)
            assert model.asked == []
            other.execute("ROLLBACK")
            await asking
            other.execute("BEGIN IMMEDIATE")
            monkeypatch.setattr(resources.database.database, "_PATIENCE_S", 0.2)
            with pytest.raises(StoreBusy, match=r"Another program keeps .*calls\.sqlite locked"):
                await model.all_of(store, [2])

        asyncio.run(main())
        other.execute("ROLLBACK")
    asyncio.run(model.all_of(store, [1, 2]))
    assert model.asked == [1, 2]
