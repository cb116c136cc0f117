import pytest

from tests.ray_cluster import RayCluster


@pytest.fixture(scope="session")
def ray_cluster():
    """A Ray cluster for all tests: its start takes half a minute of a busy machine."""
    with RayCluster() as cluster:
        yield cluster
