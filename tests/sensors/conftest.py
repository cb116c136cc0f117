import pytest
from dagster import DagsterInstance

from tests.sensors.bench import Bench


@pytest.fixture
def bench(tmp_path, monkeypatch):
    (tmp_path / "collections.yaml").touch()
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "collections.yaml"))
    with DagsterInstance.ephemeral() as instance:
        yield Bench(instance, tmp_path)
