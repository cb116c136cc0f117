"""Money in the store: reserved within budgets, booked once, and its sums agree with the rows."""

import asyncio
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from threading import Barrier

import psycopg2
import pytest
from sqlalchemy import text

from resources.calls.spending import (
    NANO,
    Account,
    Booking,
    Purchase,
    SpendingRow,
    format_month,
    generate_booking_id,
)
from resources.faults import MissingPrice, OverBudget
from resources.models.catalog import Model
from resources.models.requests import build_canonical_fields, build_canonical_head, compute_call_key
from tests.resources.calls.calling import Model as Answering
from tests.resources.calls.calling import call, keys, once

PROJECT = Path(__file__).parents[3]
SUMS = "SELECT scope, spent, reserved FROM spending_totals"
ACCOUNT = Account("vlmbias/answers_gpt", "flags", "run-1")
GPT = Model(name="gpt", backend="openai", model="gpt-5", family="gpt", roles=("judge",))


def booking(bound=100, account=ACCOUNT, month="2026-11", **more):
    return Booking(
        generate_booking_id(), "key", account, "gpt", more.get("mode", "online"), month, bound
    )


def totals(store):
    """The sums as they are kept."""
    rows = store._start().database.run(lambda connection, _: connection.execute(text(SUMS)).all())
    return {scope: (spent, reserved) for scope, spent, reserved in rows if spent or reserved}


def summed(store):
    """The sums as the rows give them."""
    rows = store._start().database.run(
        lambda connection, _: connection.execute(
            text("SELECT run, month, bound, cost, state FROM spending")
        ).all()
    )
    sums = Counter(), Counter()
    for run, month, bound, cost, state in rows:
        reserved = state == "reserved"
        for scope in (f"run:{run}", f"month:{month}"):
            sums[reserved][scope] += (bound if cost is None else cost) or 0
    return {
        scope: (sums[0][scope], sums[1][scope])
        for scope in sums[0].keys() | sums[1].keys()
        if sums[0][scope] or sums[1][scope]
    }


class TestBookings:
    def test_what_is_reserved_is_settled_or_given_back(self, url, opened):
        store = opened(url)
        paid, lost, free, unknown = booking(100), booking(70), booking(50), booking(None)
        store.reserve([paid, lost, free, unknown])
        assert totals(store) == {"run:run-1": (0, 220), "month:2026-11": (0, 220)}
        store.settle({paid.id: 33, lost.id: None, unknown.id: None})
        store.release([free.id])
        assert (
            totals(store)
            == summed(store)
            == {
                "run:run-1": (103, 0),
                "month:2026-11": (103, 0),
            }
        )
        row = SpendingRow("2026-11", ACCOUNT.asset, "flags", "gpt", "online", 3, 33, 70, 1)
        assert opened(url).list_spending() == [row]

    def test_nothing_is_booked_twice(self, url, opened):
        store, one = opened(url), booking()
        for _ in range(2):
            store.reserve([one])
        for cost in (30, 40, None):
            store.settle({one.id: cost})
        store.release([one.id])
        assert totals(store) == summed(store) == {"run:run-1": (30, 0), "month:2026-11": (30, 0)}

    def test_costs_are_told_apart(self, url, opened):
        store = opened(url)
        others = [
            booking(month="2026-12"),
            booking(mode="batch"),
            booking(account=replace(ACCOUNT, partition="")),
            booking(account=replace(ACCOUNT, asset="")),
        ]
        for each in others:
            store.reserve([each])
        assert [row.requests for row in store.list_spending()] == [1] * 4

    def test_what_runs_spent_counts_what_may_be_paid_yet(self, url, opened):
        store = opened(url)
        paid, reserved, lost = booking(), booking(), booking(account=replace(ACCOUNT, run="run-2"))
        store.reserve([paid, reserved, lost])
        store.settle({paid.id: 30, lost.id: None})
        assert store.sum_spending(["run-1"]) == 30 + 100
        assert store.sum_spending(["run-1", "run-2"]) == 30 + 100 + 100
        assert store.sum_spending(["run-3"]) == 0

    def test_sums_beyond_a_thousand_million_dollars(self, url, opened):
        store, large = opened(url), booking(2 * 10**18)
        store.reserve([large])
        store.settle({large.id: 2 * 10**18})
        assert store.list_spending()[0].paid == 2 * 10**18


class TestBudgets:
    def test_all_or_none_within_it(self, url, opened):
        store, account = opened(url), replace(ACCOUNT, per_run=250 / NANO)
        two = [booking(100, account), booking(150, account)]
        with pytest.raises(OverBudget, match=r"this run is \$0.0{6}|budget of this run") as error:
            store.reserve([*two, booking(1, account)])
        assert "per_run_usd" in str(error.value)
        assert "COUNTERFACTORY_BUDGET_PER_RUN" in str(error.value)
        assert totals(store) == {}
        store.reserve(two)
        store.settle({two[0].id: 40})
        with pytest.raises(OverBudget):
            store.reserve([booking(61, account)])
        store.reserve([booking(60, account)])
        assert totals(store)["run:run-1"] == (40, 210)

    def test_that_of_a_month_is_for_all_runs_and_its_own_month(self, url, opened):
        store = opened(url)
        store.reserve([booking(100, replace(ACCOUNT, run="another"))])
        account = replace(ACCOUNT, per_month=150 / NANO)
        with pytest.raises(OverBudget, match="budget of 2026-11"):
            store.reserve([booking(51, account)])
        store.reserve([booking(50, account), booking(150, account, month="2026-12")])

    def test_that_of_a_partition_is_for_all_its_runs_and_no_other_partition(self, url, opened):
        store, other = opened(url), opened(url)
        account = replace(ACCOUNT, per_partition=250 / NANO, per_partition_source="a field")
        earlier = [booking(bound) for bound in (100, 70, 30)]
        store.reserve([*earlier, booking(999, replace(ACCOUNT, partition="dice"))])
        store.settle({earlier[0].id: 40, earlier[1].id: None})
        later = replace(account, run="run-2")
        other.reserve([booking(60, later)])
        with pytest.raises(OverBudget, match="The budget of vlmbias/answers_gpt, flags") as error:
            store.reserve([booking(20, later), booking(31, account)])
        assert "Raise a field and run again" in str(error.value)
        store.reserve([booking(20, later), booking(30, account)])

    def test_what_may_have_been_paid_counts_as_paid(self, url, opened):
        store, account = opened(url), replace(ACCOUNT, per_run=250 / NANO)
        lost = booking(200, account)
        store.reserve([lost])
        store.settle({lost.id: None})
        with pytest.raises(OverBudget):
            store.reserve([booking(51, account)])

    def test_without_a_price_there_is_no_budget(self, url, opened):
        store = opened(url)
        with pytest.raises(MissingPrice, match="gpt may cost is unknown"):
            store.reserve([booking(None, replace(ACCOUNT, per_month=1.0))])
        store.reserve([booking(None)])

    def test_claims_beyond_it_are_given_up(self, url, opened):
        store, other = opened(url), opened(url)
        account, asked = replace(ACCOUNT, per_run=250 / NANO), []

        async def main():
            others_ended = asyncio.Event()

            async def ask(number):
                asked.append(number)
                # What an answer gives back, another would get.
                await others_ended.wait()
                return call(number)

            asking = [
                asyncio.create_task(
                    once(store, call(n).key, partial(ask, n), Purchase(booking(100, account)))
                )
                for n in range(5)
            ]
            await asyncio.wait(asking[2:])
            others_ended.set()
            ends = await asyncio.gather(*asking, return_exceptions=True)
            assert [isinstance(end, OverBudget) for end in ends] == [False] * 2 + [True] * 3
            assert asked == [0, 1]
            # Nobody has to wait for the end of a lease.
            async with asyncio.timeout(120):
                await Answering().all_of(other, range(5))

        asyncio.run(main())
        assert totals(store) == summed(store) == {}

    def test_sums_are_locked_in_one_order(self, server, opened):
        """Steps of one run share its sum, and all runs that of the month."""
        url = server.database()
        store, account = opened(url), replace(ACCOUNT, per_run=250 / NANO)
        store.reserve([booking(100, account)])
        with closing(psycopg2.connect(url)) as other, ThreadPoolExecutor(1) as threads:
            hold = f"{SUMS} WHERE scope = %s FOR UPDATE NOWAIT"
            with other.cursor() as cursor:
                cursor.execute(hold, ["month:2026-11"])
                reserving = threads.submit(store.reserve, [booking(100, account)])
                with closing(psycopg2.connect(url)) as third, third.cursor() as watching:
                    third.autocommit = True
                    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
                    while watching.execute(waiting) or watching.fetchone() == (0,):
                        time.sleep(0.01)
                # Nobody who waits for the month's sum holds the run's.
                cursor.execute(hold, ["run:run-1"])
                other.rollback()
            reserving.result()
        assert totals(store) == summed(store) == dict.fromkeys(totals(store), (0, 200))

    def test_two_at_once_never_cross_it(self, url, opened):
        account = replace(ACCOUNT, per_run=1_000 / NANO)

        def spend(number):
            store, chance, spent = opened(url), random.Random(number), 0
            for _ in range(40):
                one = booking(chance.randrange(1, 100), account)
                try:
                    store.reserve([one])
                except OverBudget:
                    continue
                cost = chance.choice([None, chance.randrange(one.bound + 1)])
                store.settle({one.id: cost})
                spent += one.bound if cost is None else cost
            return spent

        store = opened(url)
        store.find_calls([])
        with ThreadPoolExecutor(2) as threads:
            spent = sum(threads.map(spend, range(2)))
        assert 800 < spent <= 1_000
        # Who is refused finds less left than two bookings; what is left is there to the last.
        rest = booking(1_000 - spent, account)
        with pytest.raises(OverBudget):
            store.reserve([booking(rest.bound + 1, account)])
        store.reserve([rest])
        store.release([rest.id])
        assert totals(store) == summed(store)
        assert totals(store)["run:run-1"] == (spent, 0)


def test_sums_agree_with_rows_after_a_storm(url, opened):
    """Requests that are answered, lost, given up and tried again, of several runs and months."""

    def storm(number):
        store, chance = opened(url), random.Random(number)

        async def one(place):
            budget = chance.choice([None, 2_000 / NANO])
            account = Account("a", "p", f"run-{chance.randrange(3)}", budget)
            month = chance.choice(["2026-11", "2026-12"])
            purchase = Purchase(
                booking(chance.choice([None, 50, 90]) if not budget else 70, account, month)
            )

            async def ask():
                for _ in range(chance.randrange(3)):
                    purchase.paid = True
                    await asyncio.sleep(0.001 * chance.random())
                    new = booking(purchase.booking.bound, account, month)
                    await store.rebook(purchase, new)
                end = chance.randrange(4)
                purchase.paid = end > 0
                if end == 1:
                    raise LookupError("nothing came")
                if end == 0:
                    raise TimeoutError("never sent")
                if end == 2:
                    purchase.cost = chance.randrange(50)
                return call(place)

            await once(store, call(place).key, ask, purchase)

        async def main():
            tasks = [asyncio.create_task(one(chance.randrange(150))) for _ in range(150)]
            await asyncio.sleep(0.02)
            for task in tasks[::9]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run(main())
        store.close()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(storm, range(2)))
    store = opened(url)
    assert totals(store) == summed(store)
    assert not any(reserved for _, reserved in totals(store).values())
    assert {row.month for row in store.list_spending()} == {"2026-11", "2026-12"}


class TestBulk:
    def test_calls_come_and_go_by_the_thousand(self, url, opened):
        store = opened(url)
        assert store.keep([call(number) for number in range(2_100)]) == set(keys(2_100))
        assert store.keep([call(number) for number in range(2_101)]) == {keys(2_101)[-1]}
        assert store.holds(keys(3_000)) == set(keys(2_101))
        assert [row.key for row in store.iterate_calls(iter(keys(3_000)))] == sorted(keys(2_101))
        assert next(store.iterate_calls(keys(3))) in store.find_calls(keys(3)).values()
        assert list(store.iterate_keys()) == sorted(keys(2_101))
        assert store.forget(keys(2_000)) == 2_000
        assert store.forget(keys(2_000)) == 0
        assert list(store.iterate_keys()) == sorted(keys(2_101)[2_000:])

    def test_answers_are_calls_without_what_was_asked(self, url, opened):
        store = opened(url)
        store.keep([call(0)])
        assert store.find_answers(keys(2)) == {call(0).key: call(0).to_stored_answer()}

    def test_keeping_settles_in_the_same_commit(self, url, opened):
        store, one = opened(url), booking(100)
        store.reserve([one])
        with pytest.raises(ValueError, match="JSON"):
            store.keep([replace(call(0), answer={"score": float("nan")})], {one.id: 40})
        assert totals(store)["run:run-1"] == (0, 100)
        store.keep([call(0)], {one.id: 40})
        store.keep([], {one.id: 41})
        assert totals(store)["run:run-1"] == (40, 0)


class TestTypicalUsage:
    def judged(self, number, tokens, **parameters):
        model = GPT.model_copy(update={"parameters": parameters})
        request = build_canonical_fields(model, "look", {"turns": [f"{number}"]})
        moment = datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=number)
        return replace(
            call(number),
            key=compute_call_key(request),
            kind="look",
            request=request,
            input_tokens=tokens,
            output_tokens=2,
            finished_at=moment,
        )

    def test_it_is_of_the_same_model_parameters_and_kind(self, url, opened):
        store, hot = opened(url), GPT.model_copy(update={"parameters": {"temperature": 1}})
        assert store.typical_usage(build_canonical_head(GPT, "look")) is None
        store.keep([self.judged(number, 10 * number) for number in (1, 2, 3)])
        store.keep([self.judged(9, 1_000, temperature=1.0), call(4)])
        assert store.typical_usage(build_canonical_head(GPT, "look")) == (3, 20.0, 2.0)
        assert store.typical_usage(build_canonical_head(hot, "look")) == (1, 1_000.0, 2.0)
        assert store.typical_usage(build_canonical_head(GPT, "write")) is None

    def test_it_is_of_the_latest(self, url, opened):
        store = opened(url)
        store.keep([self.judged(number, 10 if number >= 30 else 99) for number in range(1_030)])
        assert store.typical_usage(build_canonical_head(GPT, "look")) == (1_000, 10.0, 2.0)

    def test_it_is_found_by_an_index(self, tmp_path, opened):
        store, told = opened(f"sqlite:///{tmp_path}/calls.sqlite"), []

        def explain(connection, sql):
            connection.connection.set_trace_callback(told.append)
            sql.find_latest_calls(connection, "head", 10)
            connection.connection.set_trace_callback(None)
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {told[-1]}").all()
            assert any("USING INDEX calls_by_model" in row[-1] for row in plan), plan

        store._start().database.run(explain)


def test_a_new_database_is_made_by_several_at_once(url, opened):
    together = Barrier(8)

    def look(_):
        store = opened(url)
        together.wait()
        return store.holds(["none"]), store.list_spending()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(look, range(8))) == [(set(), [])] * 8
    store, one = opened(url), booking()
    store.reserve([one])
    assert totals(store) == summed(store) != {}


def test_the_month_is_that_of_utc():
    east = timezone(timedelta(hours=9))
    assert format_month(datetime(2026, 12, 1, 8, 59, tzinfo=east)) == "2026-11"
    assert format_month(datetime(2026, 12, 1, 9, 0, tzinfo=east)) == "2026-12"
