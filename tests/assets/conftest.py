import shutil
from pathlib import Path

import pytest

from assets.site import build
from tests.assets.site_data import Report
from tests.runs import TOPIC, checks, failure, materialize


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root in which `TOPIC` is materialized at 384 px; not to be changed."""
    root = tmp_path_factory.mktemp("made")
    result = materialize(root, topic=TOPIC)
    assert result.success, failure(result)
    assert set(checks(result).values()) == {True}
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(made, tmp_path / "root")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site built once, then moved to a folder with another name."""
    folder = tmp_path_factory.mktemp("site") / "report"
    build(folder, **Report().tables())
    return folder.rename(folder.with_name("moved elsewhere"))
