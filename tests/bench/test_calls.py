"""The yardstick of the call store, on few calls."""

from bench.calls import by_stored


def test_it_looks_up_in_a_store_that_grows(tmp_path):
    lookups = list(by_stored(f"sqlite:///{tmp_path}/calls.sqlite", (20, 1500)))
    assert [lookup.stored for lookup in lookups] == [20, 1500]
    assert all(lookup.milliseconds > 0 for lookup in lookups)
