import pytest

from tests.forked_devices import device_server, forked_devices
from tests.providers import Course, Provider
from tests.resources.models.backends.asking import Asker

__all__ = ["device_server", "forked_devices"]


@pytest.fixture(scope="module")
def _provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def server(_provider):
    """A provider to whom nothing has happened yet."""
    _provider.clear()
    _provider.received.clear()
    _provider.downloads.clear()
    _provider.engine_requests.clear()
    _provider.most_in_flight = 0
    answer, engine, owner = _provider.answer, _provider.engine, _provider.owner
    yield _provider
    _provider.answer, _provider.held, _provider.served = answer, lambda _: False, {}
    _provider.engine, _provider.owner = engine, owner
    _provider.batches.course = lambda _: Course()


@pytest.fixture(scope="module")
def asker():
    """Asks again and again over backends that are made once, since making one takes a while."""
    asker = Asker()
    yield asker
    asker.close()


@pytest.fixture
def ask(asker):
    return asker.ask
