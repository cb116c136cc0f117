"""Damaged rows of the store are named and never read as answers."""

import asyncio
import random
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import text

from resources.calls import CallStore, DamagedAnswers
from resources.calls.spending import NANO, Account
from resources.faults import CorruptItem
from tests.resources.calls.calling import Model, call, keys
from tests.resources.calls.test_spending_sql import booking, summed, totals

FLIPS = 150


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "calls.sqlite"
    with closing(CallStore(url=f"sqlite:///{path}")) as store:
        store.keep([call(number, text=f"answer {number} ü") for number in range(3)])
        paid = [booking(10**9), booking(10**9), booking(None)]
        store.reserve([*paid, booking(7)])
        store.settle({paid[0].id: 33, paid[1].id: None})
    return path


def flipped(value, chance):
    """A value of the same SQL type with one bit flipped."""
    if isinstance(value, int):
        return value ^ (1 << chance.randrange(40))
    if isinstance(value, float):
        return value * 2
    data = bytearray(value.encode())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def damaged(path, table, chance):
    """Flip one bit of a row; its column, its place and what was there."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda data: data.decode(errors="surrogateescape")
        cursor = connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid")
        names = [each[0] for each in cursor.description]
        row = dict(zip(names, chance.choice(cursor.fetchall()), strict=True))
        column = chance.choice([name for name in names[1:] if row[name] is not None])
        write(connection, table, column, row["rowid"], flipped(row[column], chance))
    return column, row["rowid"], row[column]


def mended(path, table, column, rowid, value):
    with closing(sqlite3.connect(path)) as connection:
        write(connection, table, column, rowid, value)


def write(connection, table, column, rowid, value):
    as_text = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
    change = f"UPDATE {table} SET {column} = {as_text} WHERE rowid = ?"
    connection.execute(change, (value, rowid))
    connection.commit()


def outcome(work, *given):
    """What comes of it, or the error."""
    try:
        return work(*given), None
    except CorruptItem as error:
        return None, error


class TestEveryBit:
    def test_of_an_answer_is_told(self, path):
        """None of them gives another answer, or has one asked again without a word."""
        chance = random.Random(1)
        with closing(CallStore(url=f"sqlite:///{path}")) as store:
            answers, calls = store.find_answers(keys(3)), store.find_calls(keys(3))
        told = 0
        for _ in range(FLIPS):
            column, *before = damaged(path, "calls", chance)
            with closing(CallStore(url=f"sqlite:///{path}")) as store:
                for look_up, right in ((store.find_answers, answers), (store.find_calls, calls)):
                    found, error = outcome(look_up, keys(3))
                    if error:
                        told += 1
                        assert "of 'gpt-5'" in str(error) or column == "model"
                        assert "replace_damaged_answers: true" in str(error)
                    else:
                        # What is read is right, or it is not found by those who would not pay.
                        assert found.items() <= right.items()
                        assert look_up == store.find_calls or found == right, column
            mended(path, "calls", column, *before)
        assert told > FLIPS

    def test_of_money_is_told(self, path):
        chance = random.Random(2)
        with closing(CallStore(url=f"sqlite:///{path}")) as store:
            spent, sums = store.list_spending(), totals(store)
        told = 0
        for _ in range(FLIPS // 2):
            table = chance.choice(["spending", "spending_totals"])
            column, *before = damaged(path, table, chance)
            with closing(CallStore(url=f"sqlite:///{path}")) as store:
                found, error = outcome(lambda store=store: (totals(store), store.list_spending()))
            # Sums heal, for they are made of bookings.
            assert found == (sums, spent) or "the booking" in str(error), column
            told += error is not None
            if table == "spending":
                mended(path, table, column, *before)
        assert told


def test_a_sum_that_is_damaged_while_it_is_in_use_lets_nothing_be_spent(path):
    account = replace(Account(run="run-1"), per_month=10**9 / NANO * 1000)
    with closing(CallStore(url=f"sqlite:///{path}")) as store:
        store.reserve([booking(1, account)])
        with closing(sqlite3.connect(path)) as other:
            other.execute("UPDATE spending_totals SET spent = spent - 1024 WHERE scope LIKE 'm%'")
            other.commit()
        with pytest.raises(
            CorruptItem, match=r"sum of 2026-11 .* not what was written .* Run again"
        ):
            store.reserve([booking(1, account)])
    with closing(CallStore(url=f"sqlite:///{path}")) as store:
        store.reserve([booking(1, account)])
        assert totals(store) == summed(store)


def test_a_damaged_booking_loses_no_answer(path, caplog):
    with closing(CallStore(url=f"sqlite:///{path}")) as store:
        one = booking(50)
        store.reserve([one])
        with closing(sqlite3.connect(path)) as other:
            other.execute("UPDATE spending SET bound = 51 WHERE id = ?", [one.id])
            other.commit()
        assert store.keep([call(8)], {one.id: 20}) == {call(8).key}
    assert f"{one.id!r} of 'gpt' in the call store is not what was written" in caplog.text


def test_a_damaged_answer_is_asked_again_only_when_told_to(path):
    with closing(sqlite3.connect(path)) as other:
        other.execute(
            "UPDATE calls SET answer = replace(answer, '1', '7') WHERE key = ?", keys(2)[1:]
        )
        other.commit()
    model = Model()
    with closing(CallStore(url=f"sqlite:///{path}")) as store:
        with pytest.raises(DamagedAnswers, match=keys(2)[1]):
            asyncio.run(model.all_of(store, [1]))
        assert model.asked == []
        with pytest.raises(DamagedAnswers, match=f"{path}: 1 answers .*{keys(2)[1]}") as error:
            store.find_answers(keys(3))
        assert error.value.keys == {keys(2)[1]}
        assert store.holds(keys(3)) == set(keys(3))
        assert store.forget(error.value.keys) == 1
        assert store.find_answers(keys(3)).keys() == {keys(3)[0], keys(3)[2]}


def test_damage_is_told_and_sums_heal_on_either_database(url, opened):
    store, paid = opened(url), booking(100)
    store.keep([call(number) for number in range(3)])
    store.reserve([paid, booking(7)])
    store.settle({paid.id: 33})
    for said in (
        "UPDATE calls SET answer = replace(answer, 'yes', 'no')",
        "UPDATE spending_totals SET spent = spent + 20",
    ):
        store._start().database.run(lambda one, _, said=said: one.execute(text(said)))
    store.close()
    store = opened(url)
    assert totals(store) == summed(store) == {"run:run-1": (33, 7), "month:2026-11": (33, 7)}
    with pytest.raises(DamagedAnswers, match="3 answers"):
        store.find_answers(keys(3))


def test_an_answer_stored_between_two_looks_is_none_that_is_damaged(url, opened):
    """A run that is executed again looks up answers while the one before still stores them."""
    reader, writer = opened(url), opened(url)
    reader.keep([call(0)])

    class Meanwhile(list):
        looks = 0

        def __iter__(self):
            self.looks += 1
            if self.looks == 2:
                writer.keep([call(1)])
            return super().__iter__()

    wanted = Meanwhile(keys(2))
    database = reader._start().database
    found = database.run(lambda connection, sql: sql.find_answers(connection, wanted))
    assert set(found.sound) == set(keys(2))
    assert found.damaged == {}
