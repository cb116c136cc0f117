"""Two machines with a home each that share a server and pictures: each picture is drawn once."""

import json

import pytest

from tests.postgres import Postgres, installed
from tests.runs import TOPIC, table

pytestmark = pytest.mark.slow

NAMES = ("drawn_images", "original_images", "measurements")
MATERIALIZE = f"""
import json, sys
from resources.execution import work_loop
from tests.runs import failure, materialize, metadata

work_loop._FIRST_CHUNK = work_loop._LARGEST_CHUNK = 8
result = materialize(sys.argv[1], *{NAMES}, topic={TOPIC!r}, sizes=(384,))
assert result.success, failure(result)
counts = [metadata(result, name) for name in {NAMES}]
print(json.dumps([row.get("drawn_now", row.get("measured_now")) for row in counts]))
print(json.dumps([row["images"] for row in counts]))
"""


@pytest.fixture(scope="module")
def server():
    if not installed():
        pytest.skip("no PostgreSQL server is installed")
    with Postgres() as server:
        yield server


def test_two_homes_at_once_share_the_work_and_a_third_has_none(server, forks, tmp_path):
    shared = {
        "COUNTERFACTORY_CALLS": server.database(),
        "COUNTERFACTORY_IMAGES": tmp_path / "shared",
    }
    homes = [tmp_path / name for name in ("one", "two", "three")]

    def start(home):
        return forks.start("-c", MATERIALIZE, home, **shared)

    def read(program):
        output, errors = program.communicate()
        assert program.returncode == 0, errors
        done, images = map(json.loads, output.splitlines())
        return done, images

    programs = [start(home) for home in homes[:2]]
    (one, images), (two, same_images) = map(read, programs)
    assert images == same_images
    assert [first + second for first, second in zip(one, two, strict=True)] == images
    assert read(start(homes[2])) == ([0, 0, 0], images)
    for name in NAMES:
        (content,) = {table(home, name).read_bytes() for home in homes}
        assert content
    assert not list(tmp_path.rglob("work.sqlite*"))
