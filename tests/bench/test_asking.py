"""The yardstick of asking, on few requests."""

from contextlib import contextmanager

import pytest

from bench import asking
from bench.asking import Cost, middle
from tests.providers import provider_process


def test_a_round_asks_bare_then_durably_then_again(monkeypatch):
    monkeypatch.setattr(asking, "REQUESTS", 30)
    monkeypatch.setattr(asking, "ROUNDS", 1)
    counts, ask = [], asking.ask_timed

    @contextmanager
    def counted(**options):
        with provider_process(**options) as server:

            def asked(*given):
                counts.append(server.count)
                seconds = ask(*given)
                counts.append(server.count)
                return seconds

            monkeypatch.setattr(asking, "ask_timed", asked)
            yield server

    monkeypatch.setattr(asking, "provider_process", counted)
    (cost,) = asking.text_requests()
    assert counts == [30, 60, 60, 60], "once bare, once durably, and the third time nothing"
    assert min(cost.bare, cost.durable, cost.again) > 0


def test_the_middle_is_by_what_is_above_the_bare_client():
    costs = [Cost(5, 6, 1, 0), Cost(1, 9, 0, 0), Cost(2, 5, 0, 0)]
    assert middle(costs) == Cost(2, 5, 0, 0)


@pytest.mark.slow
def test_memory_is_that_of_a_process_that_sends_the_pictures():
    assert 50 < asking.peak_megabytes(3) < 1000
