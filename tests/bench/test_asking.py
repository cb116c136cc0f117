"""The yardstick of asking, on few requests."""

from bench import asking
from bench.asking import Cost, middle


def test_a_round_asks_bare_then_durably_then_again(monkeypatch):
    monkeypatch.setattr(asking, "REQUESTS", 30)
    monkeypatch.setattr(asking, "ROUNDS", 1)
    (cost,) = asking.text_requests()
    assert cost.bare > 0
    assert cost.durable > 0
    assert cost.again * 1000 < cost.durable * 30


def test_the_middle_is_by_what_is_above_the_bare_client():
    costs = [Cost(5, 6, 1, 0), Cost(1, 9, 0, 0), Cost(2, 5, 0, 0)]
    assert middle(costs) == Cost(2, 5, 0, 0)


def test_memory_is_that_of_a_process_that_sends_the_pictures():
    assert 50 < asking.peak_megabytes(3) < 1000
