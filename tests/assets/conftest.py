from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest
from dagster import DagsterInstance

from assets.protobias import concepts
from assets.report.start_page import write_start_page
from generators.scene import Scene
from resources.models import dispatch
from resources.user_files import taxonomy_file as taxonomy
from tests.assets.asked import judge_at
from tests.assets.vlmbias.site_data import Report, build
from tests.ports import free_port
from tests.providers import Provider
from tests.runs import TOPIC, checks, copied, failure, few_scenes, materialize

# Reading taxonomy.yaml takes 0.2 s, and hundreds of concepts are sampled in these tests.
_read = cache(lambda path, data: taxonomy.load_taxonomy(path))
concepts.load_taxonomy = lambda path: _read(path, path.exists() and path.read_bytes())

Scenes: TypeAlias = Callable[[int], Sequence[Scene]]


@pytest.fixture(scope="package", autouse=True)
def whole_topic() -> Iterator[Scenes]:
    """What gives all scenes of `TOPIC`, which has but a few in all these tests."""
    with few_scenes() as whole:
        yield whole


@pytest.fixture(scope="package")
def made(whole_topic: Scenes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root in which `TOPIC` is materialized at 384 px; not to be changed."""
    root = tmp_path_factory.mktemp("made")
    result = materialize(root, topic=TOPIC)
    assert result.success, failure(result)
    assert set(checks(result).values()) == {True}
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return copied(made, tmp_path / "root")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site built once, then moved to a folder with another name."""
    folder = tmp_path_factory.mktemp("site") / "report"
    build(folder, **Report().tables())
    write_start_page(folder.parent)
    return folder.rename(folder.with_name("moved elsewhere"))


@pytest.fixture(scope="session")
def own_port() -> int:
    """A port of this process's own."""
    return free_port()


@pytest.fixture
def server(own_port, monkeypatch):
    """A provider of models that says 8 to everything; failed attempts are repeated at once.

    Each is at the same address, so that what is defined for its models need not be made anew.
    """
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    monkeypatch.setattr(dispatch, "FIRST_WAIT_S", 0.005)
    with Provider(answer=lambda received: "I see {8}.", port=own_port) as server:
        yield server


@pytest.fixture
def judge(server):
    """A model of that provider, as models.yaml would list it."""
    return judge_at(server)


@pytest.fixture
def instance():
    """A Dagster instance to look up the log in afterwards."""
    with DagsterInstance.ephemeral() as instance:
        yield instance
