"""The yardstick of image pairs, on few of them."""

import pytest

from bench.pairs import SAMPLES, paint, write_triplets
from tests.providers import Provider


# Dagster's own, while it makes a resource that is part of another one.
@pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
def test_it_paints_a_partition_and_asks_for_it_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "none")
    write_triplets(tmp_path, 2)
    with Provider() as provider:
        painted, again = (paint(str(tmp_path), provider.url) for _ in range(2))
        assert provider.count == 2 * 2 * SAMPLES
    assert painted.pairs == again.pairs == 2 * SAMPLES
    assert min(painted.seconds, again.seconds) > 0
    assert 50 < painted.megabytes < 2000
