"""Pulling the plug while a batch is submitted, and while it is collected."""

import json
import signal
import sqlite3
import textwrap
import time
from contextlib import closing

import pytest

from resources.storage.image_store import ImageStore
from tests.providers import provider_process
from tests.resources.batches.office import Office
from tests.waiting import wait_for

MANY = 120
SCRIPT = """
    import sys, time
    from contextlib import closing
    from resources.batches import submission
    from resources.batches import answer_collection as collection
    from resources.calls import CallStore
    from resources.storage.image_store import ImageStore
    from tests.resources.batches.office import Office
    from tests.resources.models.conftest import looks

    class Provider:
        url = sys.argv[2]
        openai_url = url + "/v1"

    def keep_some(self, *arguments):
        kept.append(keep(self, *arguments))
        while len(kept) > %d:
            time.sleep(1)
        return kept[-1]

    kept, keep, CallStore.keep = [], CallStore.keep, keep_some
    collection.KEPT_AT_ONCE = 10
    submission.LEASE_S = 0.5
    with closing(CallStore(url=f"sqlite:///{sys.argv[1]}/calls.sqlite")) as calls:
        with Office(calls, ImageStore(root=sys.argv[1]), Provider) as office:
            if sys.argv[3] == "submit":
                office.submit(looks(%d))
            else:
                office.collect(sys.argv[3])
    print("done")
"""


@pytest.fixture
def process(forks):
    """Starts a process that submits, or collects a batch by its tag and stops in the middle."""

    def process(root, server, what, keeps=MANY):
        script = textwrap.dedent(SCRIPT) % (keeps, MANY)
        return forks.start("-c", script, root, server.url, what)

    return process


def rows(root, of):
    with closing(sqlite3.connect(root / "calls.sqlite")) as database:
        try:
            return database.execute(f"SELECT count(*) FROM {of}").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.fixture
def server():
    with provider_process() as server:
        yield server


def tag_of(root):
    with closing(sqlite3.connect(root / "calls.sqlite")) as database:
        ((tag,),) = database.execute("SELECT tag FROM batches").fetchall()
        return tag


def test_what_was_killed_while_it_collected_goes_on(tmp_path, server, process):
    told, _ = process(tmp_path, server, "submit").communicate()
    assert told == "done\n"
    tag = tag_of(tmp_path)
    collecting = process(tmp_path, server, tag, keeps=MANY // 20)
    wait_for(lambda: rows(tmp_path, "calls") > MANY / 4, collecting)
    collecting.send_signal(signal.SIGKILL)
    collecting.communicate()
    assert MANY / 4 < rows(tmp_path, "calls") < MANY
    assert rows(tmp_path, "batch_requests") == MANY
    told, _ = process(tmp_path, server, tag).communicate()
    assert told == "done\n"
    assert (rows(tmp_path, "calls"), rows(tmp_path, "batch_requests")) == (MANY, 0)
    assert len(server.received()["batches"]) == 1
    with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as database:
        states = database.execute("SELECT state, count(*) FROM spending GROUP BY state").fetchall()
        ((endings, state),) = database.execute("SELECT endings, state FROM batches").fetchall()
    assert states == [("paid", MANY)]
    assert (json.loads(endings), state) == ({"answered": MANY}, "collected")


def test_one_that_is_killed_before_it_hears_of_its_batch_has_created_one(
    tmp_path, server, process, opened
):
    """The provider has the batch and is slow to say so: killed in between, it is found again."""
    server.plan(course={"silent_s": 3600})
    submitting = process(tmp_path, server, "submit")
    wait_for(lambda: server.received()["batches"], submitting)
    submitting.send_signal(signal.SIGKILL)
    submitting.communicate()
    tag = tag_of(tmp_path)
    with Office(
        opened(f"sqlite:///{tmp_path}/calls.sqlite"), ImageStore(root=str(tmp_path)), server
    ) as office:
        assert office.calls.batches.find(tag).provider_id is None
        end = time.monotonic() + 120
        while office.calls.batches.find(tag).state == "submitting":
            assert time.monotonic() < end
            assert office.recover_lost() == {}
            time.sleep(0.05)
        assert office.collect(tag).endings == {"answered": MANY}
    assert [each for each, _ in server.received()["batches"]] == [tag]
