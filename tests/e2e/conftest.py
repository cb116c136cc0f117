"""One story on a real server, which several modules look at."""

import pytest

from tests.e2e.story import told


@pytest.fixture(scope="session")
def story(tmp_path_factory):
    """What came of it all; its second server is there until somebody ends it."""
    with told(tmp_path_factory.mktemp("story")) as story:
        yield story


@pytest.fixture
def server(story):
    """The second server."""
    return story.server
