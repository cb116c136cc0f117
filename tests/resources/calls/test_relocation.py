"""A data root with characters that a URL reads in its own way."""

import multiprocessing
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import resources.calls.database
from definitions import resources_at
from resources.calls import CallStore
from resources.calls.address import sqlite_url
from resources.faults import Busy, Unusable
from tests.resources.calls.calling import call, keys

ODD = ("100%25", "100%", "a?b", "a#b", "a b&c=d", "a@b:c", "ü::x")


def kept(url, numbers):
    with closing(CallStore(url=url)) as store:
        store.keep([call(number) for number in numbers])


def known(root):
    with closing(resources_at(str(root))["models"].calls) as store:
        return store.known(keys(9)).keys()


@pytest.fixture
def before(tmp_path):
    """Gives a data root whose answers an earlier version kept at the path of a formatted URL."""

    def before(name, numbers=range(3)):
        root = tmp_path / name
        kept(f"sqlite:///{root}/calls.sqlite", numbers)
        (root / "calls.sqlite").parent.mkdir(exist_ok=True)
        assert not (root / "calls.sqlite").exists()
        return root

    return before


@pytest.mark.parametrize("name", ODD)
def test_the_answers_lie_in_the_data_root_whatever_its_name(tmp_path, name):
    root = tmp_path / name
    with closing(resources_at(str(root))["models"].calls) as store:
        store.keep([call(1)])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with closing(sqlite3.connect(root / "calls.sqlite")) as connection:
        assert connection.execute("SELECT key FROM calls").fetchall() == [(call(1).key,)]


@pytest.mark.parametrize(("name", "lay"), [("100%25", "100%/calls.sqlite"), ("a?b", "a")])
def test_answers_at_the_wrong_path_are_taken_over(tmp_path, before, name, lay):
    root = before(name)
    assert (tmp_path / lay).is_file()
    assert known(root) == set(keys(3))
    assert not (tmp_path / lay).exists()
    assert known(root) == set(keys(3))


def taken(root):
    assert known(root) == set(keys(3))


def test_many_processes_take_it_over_at_once(before):
    root, fork = before("a?b"), multiprocessing.get_context("fork")
    racing = [fork.Process(target=taken, args=(root,)) for _ in range(6)]
    for each in racing:
        each.start()
    for each in racing:
        each.join(60)
    assert [each.exitcode for each in racing] == [0] * len(racing)


def test_what_was_not_checkpointed_when_it_was_killed_is_taken_over_as_well(tmp_path, before):
    root = before("a?b", [0])
    lay = str(tmp_path / "a")
    program = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
        "c.execute('UPDATE calls SET served_model = 0'); c.rollback(); "
        "c.execute('PRAGMA wal_autocheckpoint=0'); "
        "c.execute('CREATE TABLE later (x)'); c.commit(); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", program, lay], check=False)
    assert (tmp_path / "a-wal").stat().st_size
    assert known(root) == set(keys(1))
    with closing(sqlite3.connect(root / "calls.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("a-")]


def test_of_two_stores_none_is_chosen(tmp_path, before):
    root = before("a?b")
    kept(sqlite_url(tmp_path / "calls.sqlite"), [5])
    (tmp_path / "calls.sqlite").rename(root / "calls.sqlite")
    with pytest.raises(Unusable, match=r"two stores .*a\?b/calls\.sqlite, and .*/a, .*move"):
        known(root)
    assert (tmp_path / "a").is_file()
    with closing(sqlite3.connect(root / "calls.sqlite")) as connection:
        assert connection.execute("SELECT key FROM calls").fetchall() == [(call(5).key,)]


def test_one_that_was_placed_before_a_kill_is_the_same(tmp_path, before):
    root = before("a?b")
    (root / "calls.sqlite").write_bytes((tmp_path / "a").read_bytes())
    assert known(root) == set(keys(3))
    assert not (tmp_path / "a").exists()


def test_another_data_root_keeps_its_own(tmp_path, before):
    root = before("100%25")
    (tmp_path / "100%" / "work.sqlite").touch()
    with pytest.raises(Unusable, match=r"where an earlier version kept .*\.backup"):
        known(root)
    assert known(tmp_path / "100%") == set(keys(3))
    one = sqlite3.connect(tmp_path / "100%" / "calls.sqlite")
    other = sqlite3.connect(root / "calls.sqlite")
    with closing(one), closing(other):
        one.backup(other)
    assert known(root) == set(keys(3))


def test_one_that_is_in_use_is_waited_for(tmp_path, before, monkeypatch):
    monkeypatch.setattr(resources.calls.database, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(resources.calls.database, "_RETRY_S", 0.05)
    root = before("a?b")
    with closing(sqlite3.connect(tmp_path / "a")) as other:
        other.execute("SELECT count(*) FROM calls").fetchone()
        with pytest.raises(Busy, match=r"cannot be opened alone .*End what uses it"):
            known(root)
    assert known(root) == set(keys(3))


def test_a_file_that_is_no_store_is_left_alone(tmp_path):
    (tmp_path / "a").write_text("not ours")
    assert known(tmp_path / "a?b") == set()
    assert (tmp_path / "a").read_text() == "not ours"
