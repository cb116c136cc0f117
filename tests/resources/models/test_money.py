"""What asking costs: over real HTTP, with budgets, faults, kills and lost pictures."""

import asyncio
import json
import logging
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial

import pytest
from sqlalchemy import text

from resources.calls import CallStore, DamagedAnswers
from resources.calls.spending import NANO, Account
from resources.faults import LostPictures, MissingItem, MissingPrice, OverBudget, RequestsStopped
from resources.models import dispatch
from resources.models.budget_gate import BudgetGate, ReservationQueue
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.outcomes import (
    AnsweredOutcome,
    FailedOutcome,
    MalformedOutcome,
    RefusedOutcome,
)
from resources.models.pricing import compute_cost_bound
from resources.models.recording import build_call
from resources.models.replies import ModelReply
from resources.models.requests import PaintRequest
from resources.storage.image_store import ImageStore
from tests.postgres import Postgres, installed
from tests.providers import Provider, closed_port, faults, provider_process
from tests.resources.calls.calling import end_lease
from tests.resources.models.conftest import LOG, client_at, closed, looks, model
from tests.resources.models.partition import ended, spend, started
from tests.waiting import wait_for

PRICE = {"input_per_million": 1_000.0, "output_per_million": 1_000.0}
PRICED = {"price": PRICE, "longest_output": 50}
ACCOUNT = Account("vlmbias/answers_judge", "flags", "run-1")
OFFLINE = Model(name="ours", backend="stand_in", model="prior", family="own", roles=("judge",))


@pytest.fixture
def client(client):
    """A client for which no month ends in the middle of a test."""
    client._clock = partial(datetime, 2026, 11, 21, tzinfo=UTC)
    return client


def priced(server, backend="openai", **more):
    return model(server, backend, **(PRICED | more))


def states(client):
    """How many bookings there are in each state, once all is written."""
    client.calls.close()
    rows = client.calls._start().database.run(
        lambda connection, _: connection.execute(text("SELECT state FROM spending")).all()
    )
    return Counter(state for (state,) in rows)


def within(budget, **more):
    """The account with a budget for the run, in billionths."""
    return Account(ACCOUNT.asset, ACCOUNT.partition, ACCOUNT.run, budget / NANO, **more)


def spending(client):
    """The rows of the cost table, once all is written."""
    client.calls.close()
    return client.calls.list_spending()


def spent_of(client):
    (row,) = spending(client)
    return row


def test_what_is_answered_is_booked_by_its_tokens(server, client):
    asked = client.ask(priced(server), looks(20), LOG, ACCOUNT)
    row = spent_of(client)
    tokens = sum(o.usage.input_tokens + o.usage.output_tokens for o in asked.outcomes)
    assert row.paid == tokens * 1_000_000
    assert (row.asset, row.partition, row.model) == (ACCOUNT.asset, "flags", "judge")
    assert (row.requests, row.possibly_paid, row.unknown) == (20, 0, 0)
    assert (asked.spent, asked.possibly_spent) == (row.paid / NANO, 0)
    again = client.ask(priced(server), looks(20), LOG, ACCOUNT)
    assert (again.spent, spent_of(client)) == (0, row)


def test_without_a_price_it_is_unknown_and_booked_as_that(server, client):
    asked = client.ask(model(server), looks(3), LOG, ACCOUNT)
    assert asked.spent is None
    row = spent_of(client)
    assert (row.requests, row.paid, row.possibly_paid, row.unknown) == (3, 0, 0, 3)


SURELY_FREE = [
    faults.RATE_LIMITED,
    faults.SERVER_ERROR,
    faults.BAD_GATEWAY,
    faults.OVERLOADED,
    faults.INVALID_REQUEST,
]
POSSIBLY_PAID = [
    faults.DROPPED,
    faults.RESET,
    faults.HALF_HEADERS,
    faults.HALF_BODY,
    faults.MALFORMED_JSON,
    faults.DRIPPING,
]


class TestFaults:
    @pytest.mark.parametrize("fault", SURELY_FREE, ids=lambda fault: fault.name)
    @pytest.mark.parametrize("backend", ["openai", "gemini"])
    def test_an_attempt_that_surely_cost_nothing_is_not_booked(
        self, server, client, backend, fault
    ):
        server.script([fault])
        asked = client.ask(priced(server, backend), looks(2), LOG, ACCOUNT)
        answered = sum(isinstance(outcome, AnsweredOutcome) for outcome in asked.outcomes)
        assert states(client) == {"paid": answered}
        assert asked.possibly_spent == 0

    @pytest.mark.parametrize("fault", POSSIBLY_PAID, ids=lambda fault: fault.name)
    @pytest.mark.parametrize("backend", ["openai", "gemini"])
    def test_one_that_may_have_been_paid_is_booked_at_its_bound(
        self, server, client, dripping, backend, fault
    ):
        entry = priced(server, backend)
        server.script([dripping if fault == dripping else fault])
        (request,) = looks(1)
        asked = client.ask(entry, [request], LOG, ACCOUNT)
        assert isinstance(asked.outcomes[0], AnsweredOutcome)
        assert states(client) == {"paid": 1, "possibly paid": 1}
        row = spent_of(client)
        assert row.possibly_paid == compute_cost_bound(entry, request)
        assert asked.possibly_spent == row.possibly_paid / NANO
        assert asked.spent == row.paid / NANO

    @pytest.mark.parametrize(
        ("fault", "booked"), [(faults.OTHER_SHAPE, "possibly paid"), (faults.NO_TEXT, "paid")]
    )
    def test_a_reply_that_holds_no_answer_costs_what_it_counts_or_may(
        self, server, client, fault, booked
    ):
        server.script([fault])
        asked = client.ask(priced(server), looks(1), LOG, ACCOUNT)
        assert isinstance(asked.outcomes[0], MalformedOutcome)
        assert states(client) == {booked: 1}

    def test_a_request_that_ends_without_a_paid_attempt_leaves_nothing(self, server, client):
        server.always(faults.SERVER_ERROR)
        with pytest.raises(RequestsStopped):
            client.ask(priced(server), looks(2), LOG, ACCOUNT)
        assert spending(client) == []

    def test_a_connection_that_is_never_made_costs_nothing(self, client):
        with closed_port() as port, pytest.raises(RequestsStopped):
            client.ask(priced(Provider(port=port), concurrency=2), looks(9), LOG, ACCOUNT)
        assert spending(client) == []

    def test_each_time_limit_is_booked(self, server, client, dripping):
        server.when(lambda received: "animal 1?" in received.texts[-1], dripping)
        asked = client.ask(priced(server, concurrency=1), looks(2), LOG, ACCOUNT)
        assert isinstance(asked.outcomes[1], FailedOutcome)
        assert states(client) == {"paid": 1, "possibly paid": 2}

    def test_a_file_that_is_no_picture_was_paid_for(self, server, client):
        painter = priced(server, model="test-image-1", longest_output=5_000)
        server.always(faults.NOT_A_PICTURE)
        server.when(lambda received: "cat" in received.texts[-1], faults.NORMAL)
        asked = client.ask(painter, [PaintRequest("A dog"), PaintRequest("A cat")], LOG, ACCOUNT)
        assert [type(outcome) for outcome in asked.outcomes] == [MalformedOutcome, AnsweredOutcome]
        assert states(client) == {"paid": 2}

    def test_a_refusal_that_counts_tokens_costs_them_and_another_may(self, server, client):
        server.script([faults.REFUSED, faults.INVALID_PROMPT])
        asked = client.ask(priced(server, concurrency=1), looks(2), LOG, ACCOUNT)
        assert all(isinstance(outcome, RefusedOutcome) for outcome in asked.outcomes)
        assert states(client) == {"paid": 1, "possibly paid": 1}

    def test_what_is_cancelled_on_its_way_may_have_been_paid(self, server, client):
        server.latency_s = 60

        def cancel():
            wait_for(lambda: server.count == 3)
            client._pool._loop._end_all()

        ending = threading.Thread(target=cancel)
        ending.start()
        with pytest.raises(BaseException):  # noqa: B017, PT011 - however that is told
            client.ask(priced(server), looks(3), LOG, ACCOUNT)
        ending.join()
        assert states(client) == {"possibly paid": 3}

    def test_a_picture_that_cannot_be_read_costs_nothing(self, server, client):
        with pytest.raises(MissingItem):
            client.ask(priced(server), looks(1, "0" * 64), LOG, ACCOUNT)
        assert spending(client) == []


class TestBudgets:
    def test_no_request_is_sent_that_would_cross_it(self, server, client):
        entry, requests = priced(server, concurrency=8), looks(300)
        bound = compute_cost_bound(entry, requests[0]) + 2_000_000
        told = r"budget of this run is \$.* is spent, .* may cost up to .*are answered and kept"
        with pytest.raises(OverBudget, match=told) as error:
            client.ask(entry, requests, LOG, within(10 * bound))
        assert "per_run_usd" in str(error.value)
        row = spent_of(client)
        assert states(client) == {"paid": server.count}
        assert 9 * bound - bound < row.paid <= 10 * bound
        # It ended only when what was paid, not what was reserved, had used it up.
        assert server.count > 30
        assert f"Of 300 requests, {server.count} are answered" in str(error.value)
        before = server.count
        with pytest.raises(OverBudget):
            client.ask(entry, requests, LOG, within(10 * bound))
        assert server.count == before
        asked = client.ask(entry, requests, LOG, within(1e12))
        assert asked.already_stored == before
        assert server.count == 300

    def test_a_budget_of_nothing_sends_nothing(self, server, client):
        with pytest.raises(OverBudget, match=r"is \$0.00: \$0.00 is spent"):
            client.ask(priced(server), looks(3), LOG, within(0))
        assert server.count == 0
        assert spending(client) == []

    def test_without_a_price_nothing_is_sent_and_the_field_is_named(self, server, client):
        for fields, says in (
            ({}, "judge may cost is unknown.*lacks price.input_per_million"),
            ({"price": PRICE}, "judge may cost is unknown.*lacks longest_output"),
        ):
            with pytest.raises(MissingPrice, match=says):
                client.ask(model(server, **fields), looks(3), LOG, within(1e12))
        assert server.count == 0
        client.ask(model(server), looks(3), LOG, ACCOUNT)
        client.ask(model(server), looks(3), LOG, within(0))
        assert server.count == 3

    def test_offline_goes_on(self, client, server):
        sketch = model(server, "stand_in", model="sketch", roles=["painter"], base_url=None)
        asked = client.ask(sketch, [PaintRequest("A hen with three legs")], LOG, within(0))
        assert isinstance(asked.outcomes[0], AnsweredOutcome)

    def test_another_attempt_beyond_it_is_not_made(self, server, client):
        entry, requests = priced(server), looks(1)
        bound = compute_cost_bound(entry, requests[0])
        server.always(faults.DROPPED)
        with pytest.raises(OverBudget, match="Of 1 requests, 0 are answered"):
            client.ask(entry, requests, LOG, within(2.5 * bound))
        assert server.count == 2
        assert states(client) == {"possibly paid": 2}

    def test_a_stop_ends_those_who_wait_for_money(self, server, client):
        server.latency_s = 0.2
        entry = priced(server, concurrency=8)
        server.always(faults.INVALID_KEY)
        with pytest.raises(RequestsStopped, match="Incorrect API key"):
            client.ask(entry, looks(100), LOG, within(2 * compute_cost_bound(entry, looks(1)[0])))
        assert server.count <= 2

    def test_an_answer_after_the_month_is_of_the_month_in_which_it_was_sent(self, server, client):
        moments = iter(
            [datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)]
        )
        client._clock = lambda: next(moments)
        account = Account(run="r", per_month=0.5)
        client.ask(priced(server), looks(1), LOG, account)
        assert [(row.month, row.paid > 0) for row in spending(client)] == [("2026-11", True)]
        client._clock = lambda: datetime(2026, 12, 1, tzinfo=UTC)
        client.ask(priced(server), looks(2), LOG, account)
        assert [row.month for row in spending(client)] == ["2026-11", "2026-12"]

    def test_what_waited_past_the_month_is_of_the_next(self, server, client):
        server.latency_s = 0.2
        entry, requests = priced(server, concurrency=2), looks(2)
        account = Account(run="r", per_month=1.5 * compute_cost_bound(entry, requests[0]) / NANO)
        client._clock = lambda: datetime(2026, 11 + (server.count > 0), 1, tzinfo=UTC)
        client.ask(entry, requests, LOG, account)
        assert [row.month for row in spending(client)] == ["2026-11", "2026-12"]


class TestRoom:
    def test_it_is_left_by_turns(self):
        async def main():
            room = ReservationQueue()
            room.enter()
            room.enter()
            turn = asyncio.create_task(room.wait_after_refusal(room.ended_count))
            await asyncio.sleep(0)
            room.leave()
            assert await turn
            assert not await room.wait_after_refusal(room.ended_count)

        asyncio.run(main())

    def test_where_the_last_one_left_since_it_was_asked_it_is_asked_again(self):
        async def main():
            room = ReservationQueue()
            room.enter()
            room.enter()
            ended = room.ended_count
            room.leave()
            assert await room.wait_after_refusal(ended)
            assert not await room.wait_after_refusal(room.ended_count)

        asyncio.run(main())

    def test_nobody_waits_once_it_is_closed(self):
        """Nor who is refused only then, while others have not left yet."""

        async def main():
            room = ReservationQueue()
            for _ in range(3):
                room.enter()
            before = asyncio.create_task(room.wait_after_refusal(room.ended_count))
            await asyncio.sleep(0)
            room.close()
            assert await before
            async with asyncio.timeout(60):
                assert not await room.wait_after_refusal(room.ended_count)

        asyncio.run(main())


@pytest.mark.parametrize(
    ("served", "stored"), [("", None), ("a\0b", "a\ufffdb"), ("m" * 2000, "m" * 1000)]
)
def test_a_name_that_no_store_takes_spoils_no_answer(served, stored):
    reply = ModelReply(text="4", served_model=served)
    (request,) = looks(1)
    call = build_call(OFFLINE, "key", request, reply, {}, 1.0, "online", datetime.now(UTC))
    assert call.served_model == stored


@pytest.fixture(scope="module")
def database():
    with Postgres() as database:
        yield database


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/calls.sqlite"
    if not installed():
        pytest.skip("no PostgreSQL server is installed")
    return request.getfixturevalue("database").database()


@contextmanager
def client_of(url, root):
    client = ModelClient(calls=CallStore(url=url), images=ImageStore(root=str(root)))
    try:
        yield client
    finally:
        closed(client)


class TestProcesses:
    def spend(self, url, root, server, number, budget):
        process, pipe = started(spend, url, root, server.openai_url, number, budget)
        assert pipe.recv() == "ready"
        return process, pipe

    @pytest.mark.slow
    def test_two_together_never_cross_the_budget_of_a_month(self, url, tmp_path):
        """What the server was asked, at what it counts, is within; and so much was possible."""
        budget = 2.0
        with provider_process(latency_s=0.02) as server:
            two = [self.spend(url, tmp_path, server, 1_000 * n, budget) for n in range(2)]
            for _, pipe in two:
                pipe.send("go")
            told = [ended(*each) for each in two]
            count = server.received()["count"]
        assert all("COUNTERFACTORY_BUDGET_PER_MONTH" in each for each in told), told
        with client_of(url, tmp_path) as client:
            spent = sum(row.paid + row.possibly_paid for row in client.calls.list_spending())
            assert states(client) == {"paid": count}
        assert budget * 0.8 < spent / NANO <= budget

    @pytest.mark.slow
    def test_what_was_on_its_way_at_a_kill_counts_and_a_re_run_keeps_within(self, url, tmp_path):
        budget = 2.0
        with provider_process() as server:
            server.plan(held_after=12)
            killed, pipe = self.spend(url, tmp_path, server, 0, budget)
            pipe.send("go")
            wait_for(lambda: server.count >= 12 + 8)
            killed.kill()
            killed.join()
            end_lease(url, killed.pid)
            server.plan(held_after=None)
            with client_of(url, tmp_path) as client:
                left = states(client)
                (row,) = spending(client)
            assert 8 <= left["reserved"] <= 12
            assert row.possibly_paid > 0
            again, pipe = self.spend(url, tmp_path, server, 0, budget)
            pipe.send("go")
            told = ended(again, pipe)
            count = server.received()["count"]
        assert "was not sent" in told
        with client_of(url, tmp_path) as client:
            (row,) = spending(client)
            ends = states(client)
        assert ends["reserved"] == left["reserved"]
        assert ends["paid"] <= count <= ends["paid"] + left["reserved"]
        assert row.paid + row.possibly_paid <= budget * NANO


class TestLostPictures:
    def painted(self, server, client, number=5):
        painter = priced(server, model="test-image-1", longest_output=5_000)
        requests = [PaintRequest(f"A dog with {legs} legs") for legs in range(number)]
        asked = client.ask(painter, requests, LOG, ACCOUNT)
        return painter, requests, [outcome.images[0] for outcome in asked.outcomes]

    def test_they_are_an_error_that_counts_them_and_says_where(self, server, client):
        painter, requests, digests = self.painted(server, client)
        for digest in digests[:2]:
            client.images.path(digest).unlink()
        told = rf"Of 5 answers.*2 name pictures that are not in {client.images.root}.*cassette"
        with pytest.raises(LostPictures, match=told) as error:
            client.ask(painter, requests, LOG, ACCOUNT)
        assert "remake_lost_pictures: true" in str(error.value)
        assert server.count == 5

    def test_they_are_made_again_where_that_is_wanted_and_no_others(self, server, client):
        painter, requests, digests = self.painted(server, client)
        client.images.path(digests[3]).unlink()
        account = Account(remake_lost_pictures=True)
        asked = client.ask(painter, requests, LOG, account)
        assert (asked.already_stored, asked.sent, server.count) == (4, 1, 6)
        assert client.images.find_missing(digests) == set()
        assert client.ask(painter, requests, LOG, account).sent == 0


class TestDamagedAnswers:
    def test_they_are_named_and_asked_again_where_that_is_wanted_and_no_others(
        self, server, client, tmp_path
    ):
        judge, requests = priced(server), looks(5)
        first = client.ask(judge, requests, LOG, ACCOUNT)
        (key,) = first.keys[3]
        with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as other:
            # Half of them by another key: it is not taken for one that was never asked.
            change = "UPDATE calls SET key = replace(key, ?, ?), input_tokens = 9 WHERE key = ?"
            other.execute(change, (key[:8], "f" * 8, key))
            other.commit()
        with pytest.raises(DamagedAnswers, match=f"1 answers .*{'f' * 8}{key[8:]}.*test-1"):
            client.ask(judge, requests, LOG, ACCOUNT)
        assert server.count == 5
        asked = client.ask(judge, requests, LOG, Account(replace_damaged_answers=True))
        assert (asked.already_stored, asked.sent, server.count) == (4, 1, 6)
        assert asked.outcomes == first.outcomes
        assert client.ask(judge, requests, LOG, ACCOUNT).sent == 0


class TestMalformedAnswers:
    def test_they_stay_and_are_asked_again_where_that_is_wanted_and_no_others(self, server, client):
        judge, requests = priced(server), looks(5)
        server.when(lambda received: "animal 3?" in received.texts[-1], faults.NO_TEXT)
        first = client.ask(judge, requests, LOG, ACCOUNT)
        assert isinstance(first.outcomes[3], MalformedOutcome)
        server.clear()
        before = server.count
        assert client.ask(judge, requests, LOG, ACCOUNT).outcomes == first.outcomes
        assert server.count == before
        asked = client.ask(judge, requests, LOG, Account(replace_malformed_answers=True))
        assert (asked.already_stored, asked.sent, server.count) == (4, 1, before + 1)
        assert isinstance(asked.outcomes[3], AnsweredOutcome)
        assert asked.outcomes[:3] == first.outcomes[:3]
        assert client.ask(judge, requests, LOG, Account(replace_malformed_answers=True)).sent == 0


class TestOthersClaims:
    def test_who_meets_one_goes_on_with_others(self, server, client, tmp_path):
        """Two who ask the same in the same order share the work: eight are on their way at once."""

        def held(received):
            round_of_eight = server.received.index(received) // 8 + 1
            return server.count < min(60, 8 * round_of_eight)

        server.held = held
        other = client_at(tmp_path)
        entry = model(server, concurrency=4)
        with ThreadPoolExecutor(2) as threads:
            asked = list(threads.map(lambda each: each.ask(entry, looks(60), LOG), [client, other]))
        closed(other)
        assert asked[0].outcomes == asked[1].outcomes
        assert server.count == 60
        assert min(each.sent for each in asked) >= 7 * 4

    def test_a_stop_ends_the_waiting_for_one(self, server, client, tmp_path, monkeypatch):
        monkeypatch.setattr(dispatch, "FIRST_POLL_S", 1e6)
        monkeypatch.setattr(dispatch, "POLL_INTERVAL_S", 1e6)
        over = threading.Event()
        server.held = lambda received: "animal 0?" in received.texts[-1] and not over.is_set()
        server.when(lambda received: "animal 1?" in received.texts[-1], faults.INVALID_KEY)
        other = client_at(tmp_path)
        with ThreadPoolExecutor(1) as thread:
            first = thread.submit(client.ask, model(server), looks(1), LOG)
            wait_for(lambda: server.count == 1)
            with pytest.raises(RequestsStopped, match="Incorrect API key"):
                other.ask(model(server), looks(2), LOG)
            over.set()
            first.result()
        closed(other)


class TestAnAnswerAboveItsBound:
    """A provider that bills 500 tokens where the longest answer has 50."""

    TOLD = r"judge was stopped: An answer cost \$0\.\d+, where at most \$0\.\d+ was reserved"

    @staticmethod
    def talk(received):
        return "word " * 500 if "animal 0?" in received.texts[-1] else "4"

    @pytest.mark.parametrize("limit", [within(100 * NANO), ACCOUNT], ids=["budget", "no budget"])
    @pytest.mark.parametrize("backend", ["openai", "gemini"])
    def test_nothing_is_sent_after_it_and_what_was_on_its_way_is_kept(
        self, server, client, backend, limit, called
    ):
        booked = called(BudgetGate, "book_reply")

        def held(received):
            """It is answered once four are on their way, and they once it is booked."""
            return server.count < 4 if "animal 0?" in received.texts[-1] else not booked.is_set()

        server.held, server.answer = held, self.talk
        entry = priced(server, backend, concurrency=4)
        with pytest.raises(RequestsStopped, match=self.TOLD) as stopped:
            client.ask(entry, looks(40), LOG, limit)
        assert server.count == 4
        assert "Of 40 requests, 4 are answered and kept." in str(stopped.value)
        assert "raise tokens_per_image" in str(stopped.value)
        assert states(client) == {"paid": 4}

    def test_its_cost_is_booked_and_once_mended_only_the_rest_is_asked(self, server, client):
        server.answer = self.talk
        with pytest.raises(RequestsStopped):
            client.ask(priced(server, concurrency=1), looks(3), LOG, ACCOUNT)
        assert server.count == 1
        (row,) = client.calls.list_spending()
        assert row.paid > compute_cost_bound(priced(server), looks(1)[0])
        asked = client.ask(priced(server, longest_output=1_000), looks(3), LOG, ACCOUNT)
        assert (asked.already_stored, asked.sent, server.count) == (1, 2, 3)


def test_the_log_says_what_was_spent_and_what_may_have_been(server, client, caplog):
    caplog.set_level(logging.INFO, logger="asking")
    server.script([faults.DROPPED])
    client.ask(priced(server), looks(3), LOG, ACCOUNT)
    assert "spent $0.0" in caplog.messages[-1]
    assert ", possibly $" in caplog.messages[-1]


def test_what_the_rows_say_can_be_written_down(server, client):
    client.ask(priced(server), looks(1), LOG, ACCOUNT)
    assert json.dumps([row._asdict() for row in spending(client)])
