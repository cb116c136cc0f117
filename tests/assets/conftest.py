from pathlib import Path

import pytest

from assets.site import build
from tests.assets.site_data import Report


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site built once, then moved to a folder with another name."""
    folder = tmp_path_factory.mktemp("site") / "report"
    build(folder, **Report().tables())
    return folder.rename(folder.with_name("moved elsewhere"))
