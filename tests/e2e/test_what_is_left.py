"""After all the others: what is there when the server has ended."""

import pytest

from tests.e2e.server import working_on
from tests.e2e.story import CANARY


@pytest.fixture
def ended(story):
    """The story, with its server ended."""
    story.end()
    return story


def test_no_process_is_left(ended):
    assert working_on(ended.folder / "instance") == []


def test_the_key_is_written_nowhere(ended):
    everything = [path for path in ended.folder.rglob("*") if path.is_file()]
    assert len(everything) > 50
    assert [path for path in everything if CANARY.encode() in path.read_bytes()] == []
