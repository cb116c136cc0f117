import dagster as dg
import pytest

from tests.assets.release.small import SHADES, open_made


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def datasets():
    """The library of that name."""
    # Here, for every process that collects tests would import it, and torch with it.
    import datasets  # noqa: PLC0415 - see above

    return datasets


@pytest.fixture
def sources(tmp_path, instance):
    """The small benchmark's tables, all materialized."""
    with open_made(tmp_path / "root", instance, *SHADES) as sources:
        yield sources
