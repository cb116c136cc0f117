"""Each test of the store runs on SQLite and on PostgreSQL."""

import pytest

from resources.calls import CallStore
from tests.postgres import Postgres, installed


@pytest.fixture(scope="session")
def server():
    """One server for all tests that leave it running."""
    if not installed():
        pytest.skip("no PostgreSQL server is installed")
    with Postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/data/calls.sqlite"
    return request.getfixturevalue("server").database()


@pytest.fixture
def opened():
    """Opens stores, and closes them after the test."""
    stores = []

    def open_one(url):
        stores.append(CallStore(url=url))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()
