"""Databases that are made while a disk fills up, or where SQLite cannot keep a log."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import create_engine

from resources.calls import CallStore
from resources.database import sqlite_wal as wal
from resources.faults import UnusableStore
from resources.storage.work_cache import WorkCache

PROGRAM = """
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from sqlalchemy.exc import OperationalError

from resources.calls.schema import CallSchema
from resources.calls.sql_tables import TABLES
from resources.database.sqlite_wal import create_wal_file


def leave(kib):
    used = os.statvfs(disk)
    used = (used.f_blocks - used.f_bfree) * used.f_frsize // 1024
    subprocess.run(["mount", "-o", f"remount,size={used + kib}k", str(disk)], check=True)


def soundness(path):
    with closing(sqlite3.connect(path)) as connection:
        mode, said = connection.execute("PRAGMA journal_mode"), "PRAGMA integrity_check"
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'")
        return [*mode, *connection.execute(said), *tables]


if __name__ == "__main__":
    disk = Path(sys.argv[1])
    path, made = disk / "calls.sqlite", []
    for kib in range(4, 400, 4):
        leave(kib)
        try:
            create_wal_file(path, TABLES, CallSchema().build_index_statements("sqlite"))
        except OperationalError:
            made.append(0)
            assert not path.exists()
        else:
            made.append(1)
            leave(4096)
            assert soundness(path) == [("wal",), ("ok",), (len(TABLES.tables),)], kib
            path.unlink()
        assert not list(disk.iterdir()), list(disk.iterdir())
    print(sum(made), len(made))
"""


@pytest.fixture
def _without_shared_memory(monkeypatch):
    """SQLite's own way to read and write files where there is none."""

    def engine(path, patience_s):
        there = f"file:{path}?vfs=unix-dotfile"
        return create_engine("sqlite://", creator=lambda: sqlite3.connect(there, uri=True))

    monkeypatch.setattr(wal, "_engine", engine)


@pytest.mark.usefixtures("_without_shared_memory")
@pytest.mark.parametrize("is_there", [False, True])
def test_where_sqlite_can_keep_no_log_nothing_is_asked(tmp_path, is_there):
    path = tmp_path / "calls.sqlite"
    if is_there:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE calls (key TEXT)")
    told = pytest.raises(
        UnusableStore, match=r"only the mode 'delete'.* change COUNTERFACTORY_HOME"
    )
    with closing(CallStore(url=f"sqlite:///{path}")) as calls, told:
        calls.holds(["0" * 64])
    assert path.exists() is is_there
    with pytest.raises(UnusableStore, match=r"work\.sqlite: SQLite cannot keep a log"):
        WorkCache(root=str(tmp_path)).find_results(["one"])


def test_a_database_is_made_whole_or_not_at_all_however_much_space_is_left(forks, tmp_path):
    script, disk = tmp_path / "program.py", tmp_path / "disk"
    script.write_text(PROGRAM)
    disk.mkdir()
    done = forks.run(script, disk, disk=disk)
    whole, tried = map(int, done.stdout.split() or [done.stderr, 0])
    assert 0 < whole < tried
