import asyncio
import logging

import pytest

from resources.models import request_progress as progress
from resources.models.request_progress import RequestProgress

LOG = logging.getLogger("progress")


@pytest.fixture
def told(monkeypatch, caplog):
    """A progress of 100 requests, 20 known before, which began 10 s ago."""
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(progress, "monotonic", lambda: float(next(clock)))
    caplog.set_level(logging.INFO)
    return RequestProgress("gpt", 100, 20, LOG)


def test_it_says_done_and_total_pace_time_left_and_cost(told):
    for _ in range(40):
        told.record_cost(1_000_000, 9_000_000)
        told.record_outcome("answered")
    assert str(told) == "gpt: 60 of 100 · 20 known before · 4.0/s · 10 s left · spent $0.0400"


def test_an_unknown_price_is_unknown_and_never_zero(told):
    told.record_cost(500_000_000, None)
    told.record_cost(None, None)
    told.record_cost(500_000_000, None)
    assert "spent unknown (no price)" in str(told)
    told.unpriced, told.has_price = 0, False
    assert "spent unknown (no price)" in str(told)


def test_what_may_have_been_paid_is_told_apart(told):
    told.record_cost(500_000_000, 900_000_000)
    told.record_cost(None, 20_000_000)
    assert str(told).endswith("spent $0.5000, possibly $0.0200 more")


def test_before_the_first_answer_the_time_left_is_unknown(told):
    assert "time left unknown" in str(told)


def test_what_went_wrong_is_counted(told):
    told.record_outcome("answered")
    told.record_outcome("refused")
    told.record_outcome("failed")
    told.failure_counts["overloaded"] += 1200
    assert str(told).endswith("1 refused · 1 failed · 1,200 overloaded")


def test_long_times_are_told_in_minutes(told):
    told.record_outcome("answered")
    assert "13 min 10 s left" in str(told)


def test_a_pause_that_the_provider_asks_for_is_told_while_it_lasts(told):
    told.paused_until = 3600.0
    assert "nothing is sent for 59 min 50 s, as the provider asks" in str(told)
    told.paused_until = 15.0
    assert "nothing is sent" not in str(told)


def test_it_speaks_while_others_work(told, monkeypatch, caplog):
    monkeypatch.setattr(progress, "LOG_INTERVAL_S", 0.01)

    async def work():
        telling = asyncio.create_task(told.log_periodically())
        while len(caplog.messages) < 3:
            await asyncio.sleep(0.001)
        telling.cancel()

    asyncio.run(work())
    assert all(message.startswith("gpt: 20 of 100") for message in caplog.messages)
