"""A disk that really fills up: a file system in memory, in a namespace of its own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.postgres import installed

PROJECT = Path(__file__).parents[3]

PROGRAM = """
import asyncio
import logging
import os
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from dagster import get_dagster_logger

from resources.calls import CallStore
from resources.database import database
from resources.faults import DiskFull
from tests.postgres import Postgres
from tests.resources.calls.calling import call, keys, once

MANY = 60
log = get_dagster_logger()
disk, kind = Path(sys.argv[1]), sys.argv[2]
filler = disk / "filler"


def leave(mib):
    free = os.statvfs(disk)
    filler.write_bytes(bytes(free.f_bavail * free.f_frsize - (mib << 20)))


async def store_one(store, number):
    async def ask():
        asked.append(number)
        return replace(call(number), answer={"text": os.urandom(100_000).hex()})

    kept.append(await once(store, call(number).key, ask))


async def store_all(store):
    for number in range(MANY):
        await store_one(store, number)


def fill(url):
    with closing(CallStore(url=url)) as store:
        asyncio.run(store_one(store, MANY))
        leave(4)
        try:
            asyncio.run(store_all(store))
        except DiskFull as error:
            print(error)
        assert 10 < len(kept) < MANY, len(kept)
        # What had been asked for was stored in the room that was kept free.
        assert len(asked) == len(kept), (len(asked), len(kept))
        assert store.find_calls(keys(MANY + 1)) == {one.key: one for one in kept}
        filler.unlink()
        # Whoever is still there goes on, with no lease to wait for.
        asyncio.run(store_one(store, len(kept)))
    with closing(CallStore(url=url)) as store:
        assert store.find_calls(keys(MANY + 1)) == {one.key: one for one in kept}


def wait(url):
    # No room can be kept on a server: answers are held until there is some.
    database._RETRY_S = 0.1
    with closing(CallStore(url=url)) as store:
        asyncio.run(store_one(store, MANY))
        leave(4)
        log.addHandler(Freeing())
        asyncio.run(store_all(store))
        assert not filler.exists()
        assert len(store.find_calls(keys(MANY))) == len(kept) - 1 == MANY


class Freeing(logging.Handler):
    def emit(self, record):
        if "held" in record.getMessage() and filler.exists():
            print(record.getMessage())
            filler.unlink()


kept, asked = [], []
if kind == "sqlite":
    fill(f"sqlite:///{disk}/calls.sqlite")
else:
    with Postgres(disk / "data") as server:
        wait(server.database())
print("whole")
"""


@pytest.fixture
def disk():
    """Where to mount one: PostgreSQL runs as a user who sees no folder of ours."""
    disk = Path(tempfile.mkdtemp(prefix="disk-"))
    yield disk
    disk.rmdir()


@pytest.mark.parametrize(
    ("kind", "namespace", "says"),
    [
        ("sqlite", ["--map-root-user"], "No space is left to write {disk}/calls.sqlite. What was"),
        ("postgresql", [], "The disk of PostgreSQL at 127.0.0.1:"),
    ],
)
def test_what_was_stored_is_kept_and_it_goes_on_when_there_is_space(
    tmp_path, disk, kind, namespace, says
):
    if kind == "postgresql" and (os.geteuid() or not installed()):
        pytest.skip("PostgreSQL on a disk of its own takes a server, and root to mount it for")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [
            *("unshare", *namespace, "--mount", "sh", "-c"),
            'mount -t tmpfs -o size=128m,mode=777 tmpfs "$1" && shift && exec "$@"',
            *("sh", disk, sys.executable, tmp_path / "program.py", disk, kind),
        ],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    told, _, end = done.stdout.strip().rpartition("\n")
    assert end == "whole", done.stderr
    assert told.startswith(says.format(disk=disk))
    assert "only what is missing is" in told
