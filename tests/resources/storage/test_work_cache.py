"""The work cache may forget, but it never lies, stops a run or loses a file."""

import sqlite3
from contextlib import closing

import pytest

import resources.database.database
import resources.database.sqlite
from resources.faults import StoreBusy, UnusableStore
from resources.storage.work_cache import WorkCache, build_work_key

MANY = {build_work_key("draw", number): {"n": number} for number in range(1200)}


@pytest.fixture
def root(tmp_path):
    """A data root with a work cache of many results, all in its one file."""
    WorkCache(root=str(tmp_path)).record(MANY)
    with closing(sqlite3.connect(tmp_path / "work.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return tmp_path


def test_it_remembers_across_instances_and_takes_new_results(root):
    work_cache = WorkCache(root=str(root))
    assert work_cache.find_results([*MANY, "unknown"]) == MANY
    work_cache.record({next(iter(MANY)): "new"})
    assert work_cache.find_results(MANY)[next(iter(MANY))] == "new"


def test_the_key_of_work_depends_on_every_part_and_on_nothing_else():
    key = build_work_key("draw", "1", {"b": 1, "a": [2.5]}, 384)
    assert key == build_work_key("draw", "1", {"a": [2.5], "b": 1}, 384)
    assert (
        len({key, build_work_key("draw", "2", {"b": 1, "a": [2.5]}, 384), build_work_key("draw")})
        == 3
    )


def overwritten_in_the_middle(path):
    whole = path.read_bytes()
    quarter = len(whole) // 4
    path.write_bytes(whole[:quarter] + b"\xab" * (2 * quarter) + whole[3 * quarter :])


def torn_off(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def no_database(path):
    path.write_bytes(b"this is no database, whatever its name says" * 99)


def torn_row(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE work SET result = '{\"n\": ' WHERE key = ?", [next(iter(MANY))])
        connection.commit()


@pytest.mark.parametrize(
    "damage", [overwritten_in_the_middle, torn_off, no_database, torn_row], ids=lambda d: d.__name__
)
class TestDamage:
    def test_it_forgets_says_so_and_goes_on(self, root, damage, caplog):
        damage(root / "work.sqlite")
        work_cache = WorkCache(root=str(root))
        assert work_cache.find_results(MANY) == {}
        (said,) = [record.getMessage() for record in caplog.records]
        assert f"{root / 'work.sqlite'} is damaged" in said
        assert "its work is done again" in said
        work_cache.record(MANY)
        assert WorkCache(root=str(root)).find_results(MANY) == MANY

    def test_what_was_damaged_is_set_aside_and_named(self, root, damage, caplog):
        damage(root / "work.sqlite")
        damaged = (root / "work.sqlite").read_bytes()
        WorkCache(root=str(root)).find_results(MANY)
        (aside,) = root.glob("work.sqlite.damaged-????????")
        assert aside.name in caplog.text
        assert aside.read_bytes() == damaged

    def test_one_that_is_damaged_while_it_is_open_never_lies(self, root, damage):
        """SQLite may not notice for as long as it has the pages in memory."""
        work_cache = WorkCache(root=str(root))
        assert work_cache.find_results(MANY) == MANY
        damage(root / "work.sqlite")
        work_cache.record({"meanwhile": 1})
        found = WorkCache(root=str(root)).find_results(MANY)
        assert found == {key: MANY[key] for key in found}
        WorkCache(root=str(root)).record(MANY)
        assert WorkCache(root=str(root)).find_results(MANY) == MANY


def test_a_damaged_one_heals_when_it_is_first_written_to(root, caplog):
    no_database(root / "work.sqlite")
    WorkCache(root=str(root)).record(MANY)
    assert "is damaged" in caplog.text
    assert WorkCache(root=str(root)).find_results(MANY) == MANY


def test_another_run_that_writes_is_waited_for_and_then_named(root, monkeypatch):
    monkeypatch.setattr(resources.database.database, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(resources.database.sqlite, "_LOCKED_S", 0.05)
    work_cache = WorkCache(root=str(root))
    with closing(sqlite3.connect(root / "work.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"Another program .*work\.sqlite.* run again"):
            work_cache.record({"key": 1})
        assert work_cache.find_results(MANY) == MANY
        other.execute("ROLLBACK")
    work_cache.record({"key": 1})
    assert work_cache.find_results(["key"]) == {"key": 1}
    assert not list(root.glob("work.sqlite.damaged-*"))


def test_an_empty_file_becomes_a_work_cache(tmp_path, caplog):
    (tmp_path / "work.sqlite").touch()
    WorkCache(root=str(tmp_path)).record(MANY)
    assert WorkCache(root=str(tmp_path)).find_results(MANY) == MANY
    assert not caplog.records


EIGHT_AT_ONCE = """
import os, sys, time
from pathlib import Path
from resources.storage.work_cache import WorkCache

damaged = Path(sys.argv[2])
damage = damaged.read_bytes() if damaged.exists() else None
everything = {f"{number}-{time}": number for number in range(8) for time in range(2)}
for attempt in range(6):
    root = Path(sys.argv[1], str(attempt))
    if damage:
        root.mkdir()
        (root / "work.sqlite").write_bytes(damage)
    start, children = time.monotonic() + 0.05, []
    for number in range(8):
        child = os.fork()
        if child == 0:
            while time.monotonic() < start:
                pass
            work_cache = WorkCache(root=str(root))
            for key in list(everything)[2 * number : 2 * number + 2]:
                work_cache.find_results(sys.argv[3:])
                work_cache.record({key: number})
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    work_cache = WorkCache(root=str(root))
    asides = [path.read_bytes() for path in root.glob("work.sqlite.damaged-*")]
    assert asides == ([damage] if damage else [])
    assert work_cache.find_results(everything) == everything
"""


@pytest.mark.parametrize("damage", [None, no_database, overwritten_in_the_middle])
def test_eight_processes_do_it_at_once(root, damage, forks):
    """They create it, or heal a damaged one: none fails, and nothing that one records is lost."""
    damaged = root / "work.sqlite"
    damage(damaged) if damage else damaged.unlink()
    done = forks.run("-c", EIGHT_AT_ONCE, root, damaged, *MANY)
    assert done.returncode == 0, done.stderr


def test_an_address_without_a_server_is_refused():
    with pytest.raises(UnusableStore, match=r"s3://bucket/home is an address.*PostgreSQL"):
        WorkCache(root="s3://bucket/home").find_results(["key"])
