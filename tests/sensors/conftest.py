import pytest
from dagster import DagsterInstance

from tests.sensors.bench import Bench


@pytest.fixture
def bench(tmp_path):
    with DagsterInstance.ephemeral() as instance:
        yield Bench(instance, tmp_path)
