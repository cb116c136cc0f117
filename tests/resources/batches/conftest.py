import pytest

from resources.batches import answer_collection as collection
from resources.batches import submission
from resources.storage.image_store import ImageStore
from tests.providers import Provider
from tests.resources.batches.office import CANARY, Office
from tests.resources.calls.conftest import opened, server, url

__all__ = ["opened", "server", "url"]


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def _hasty(monkeypatch):
    """A key in the environment, and waits that are no longer than they need be."""
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    monkeypatch.setattr(submission, "FIRST_WAIT_S", 0.005)
    monkeypatch.setattr(collection, "WAIT_S", 0.005)


@pytest.fixture(params=["openai", "gemini"])
def backend(request):
    return request.param


@pytest.fixture
def office(tmp_path, provider, opened):
    """Batches of an OpenAI model in a SQLite file."""
    with Office(
        opened(f"sqlite:///{tmp_path}/calls.sqlite"), ImageStore(root=str(tmp_path)), provider
    ) as office:
        yield office


@pytest.fixture
def each_office(tmp_path, provider, opened, url):
    """The same on SQLite and on PostgreSQL."""
    with Office(opened(url), ImageStore(root=str(tmp_path)), provider) as office:
        yield office
