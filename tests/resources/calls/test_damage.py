"""Damaged rows of the store are named and never read as answers; what is old gets checksums."""

import asyncio
import multiprocessing
import os
import random
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import text

from resources.calls import CallStore, DamagedAnswers, schema
from resources.calls.spending import NANO, Account
from resources.faults import Corrupt
from tests.resources.calls.calling import Model, call, keys
from tests.resources.calls.test_money import booking, summed, totals

TABLES = ("calls", "spending", "spending_totals")
FLIPS = 150
FORK = multiprocessing.get_context("fork")


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
    except Corrupt as error:
        return None, error


class TestEveryBit:
    def test_of_an_answer_is_told(self, path):
        """None of them gives another answer, or has one asked again without a word."""
        chance = random.Random(1)
        with closing(CallStore(url=f"sqlite:///{path}")) as store:
            answers, calls = store.answers(keys(3)), store.known(keys(3))
        told = 0
        for _ in range(FLIPS):
            column, *before = damaged(path, "calls", chance)
            with closing(CallStore(url=f"sqlite:///{path}")) as store:
                for look_up, right in ((store.answers, answers), (store.known, calls)):
                    found, error = outcome(look_up, keys(3))
                    if error:
                        told += 1
                        assert "of 'gpt-5'" in str(error) or column == "model"
                        assert "replace_damaged_answers: true" in str(error)
                    else:
                        # What is read is right, or it is not found by those who would not pay.
                        assert found.items() <= right.items()
                        assert look_up == store.known or found == right, column
            mended(path, "calls", column, *before)
        assert told > FLIPS

    def test_of_money_is_told(self, path):
        chance = random.Random(2)
        with closing(CallStore(url=f"sqlite:///{path}")) as store:
            spent, sums = store.spending(), totals(store)
        told = 0
        for _ in range(FLIPS // 2):
            table = chance.choice(["spending", "spending_totals"])
            column, *before = damaged(path, table, chance)
            with closing(CallStore(url=f"sqlite:///{path}")) as store:
                found, error = outcome(lambda store=store: (totals(store), store.spending()))
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
        with pytest.raises(Corrupt, match=r"sum of 2026-11 .* not what was written .* Run again"):
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
            store.answers(keys(3))
        assert error.value.keys == {keys(2)[1]}
        assert store.holds(keys(3)) == set(keys(3))
        assert store.forget(error.value.keys) == 1
        assert store.answers(keys(3)).keys() == {keys(3)[0], keys(3)[2]}


def test_what_an_earlier_version_wrote_after_the_migration_is_read(path):
    """A run that was under way while the code was updated: it knows of no checksums."""
    with closing(CallStore(url=f"sqlite:///{path}")) as store:
        one, other = booking(50), booking(60)
        store.reserve([one, other])
        store.keep([call(8)])
        with closing(sqlite3.connect(path)) as earlier:
            earlier.execute("UPDATE calls SET checksum = NULL WHERE key = ?", [call(8).key])
            settle = "UPDATE spending SET cost = ?, state = ? WHERE id = ?"
            earlier.execute(settle, (20, "paid", one.id))
            earlier.execute(settle, (None, "possibly paid", other.id))
            earlier.execute(
                "UPDATE spending_totals SET reserved = reserved - 110, spent = spent + 80"
            )
            earlier.commit()
        assert store.answers([call(8).key]).keys() == store.known([call(8).key]).keys() != set()
    with closing(CallStore(url=f"sqlite:///{path}")) as store:
        assert totals(store) == summed(store)
        assert sum(spent.paid for spent in store.spending()) == 33 + 20


def as_before(url):
    """Make a store one of the version before checksums."""
    statements = [
        "DROP INDEX calls_by_checksum",
        "DROP INDEX calls_unchecked",
        "DROP INDEX spending_unchecked",
        *(f"ALTER TABLE {table} DROP COLUMN checksum" for table in TABLES),
    ]
    with closing(CallStore(url=url)) as store:
        database = store._started().database
        for statement in statements:
            database.run(lambda connection, _, said=statement: connection.execute(text(said)))


def found_whole(url, number):
    with closing(CallStore(url=url)) as store:
        assert len(store.known(keys(number))) == number


def killed_after(url, number):
    whole, seen = schema.call_checksum, []

    def checksum(row):
        seen.append(row)
        return os._exit(9) if len(seen) > number else whole(row)

    schema.call_checksum, schema._AT_ONCE = checksum, 10
    found_whole(url, 0)


class TestOneOfBefore:
    def test_gets_its_checksums_when_it_is_opened(self, url, opened):
        before = opened(url)
        before.keep([call(number) for number in range(3)])
        paid = booking(100)
        before.reserve([paid, booking(7)])
        before.settle({paid.id: 33})
        calls, spent, sums = before.known(keys(3)), before.spending(), totals(before)
        before.close()
        as_before(url)
        store = opened(url)
        assert store.known(keys(3)) == calls
        assert store.answers(keys(3)).keys() == calls.keys()
        assert (store.spending(), totals(store)) == (spent, sums)
        database = store._started().database
        for table in TABLES:
            lacking = text(f"SELECT count(*) FROM {table} WHERE checksum IS NULL")
            assert database.run(lambda one, _, said=lacking: one.scalar(said)) == 0
        change = text("UPDATE calls SET answer = replace(answer, 'yes', 'no')")
        database.run(lambda connection, _: connection.execute(change))
        with pytest.raises(DamagedAnswers, match="3 answers"):
            store.answers(keys(3))

    def test_what_an_earlier_version_goes_on_to_write_is_taken_in(self, url, opened):
        """One that runs meanwhile leaves rows without a checksum, and changes sums."""
        store, one = opened(url), booking(100)
        store.keep([call(1)])
        store.reserve([one])
        for said in (
            "UPDATE calls SET checksum = NULL",
            "UPDATE spending SET checksum = NULL, cost = 20, state = 'paid'",
            "UPDATE spending_totals SET spent = spent + 20, reserved = reserved - 100",
        ):
            store._started().database.run(lambda one, _, said=said: one.execute(text(said)))
        store.close()
        store = opened(url)
        assert store.known(keys(2)) == {call(1).key: call(1)}
        assert totals(store) == summed(store) == {"run:run-1": (20, 0), "month:2026-11": (20, 0)}

    def test_a_kill_in_the_middle_leaves_the_old_one(self, tmp_path, opened):
        url = f"sqlite:///{tmp_path}/calls.sqlite"
        opened(url).keep([call(number) for number in range(50)])
        as_before(url)
        child = FORK.Process(target=killed_after, args=(url, 35))
        child.start()
        child.join(60)
        assert child.exitcode == 9
        with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as connection:
            columns = connection.execute("SELECT name FROM pragma_table_info('calls')")
            assert ("checksum",) not in columns.fetchall()
        assert len(opened(url).known(keys(50))) == 50

    def test_many_processes_open_it_at_once(self, url, opened):
        store = opened(url)
        store.keep([call(number) for number in range(200)])
        store.close()
        as_before(url)
        racing = [FORK.Process(target=found_whole, args=(url, 200)) for _ in range(6)]
        for each in racing:
            each.start()
        for each in racing:
            each.join(60)
        assert [each.exitcode for each in racing] == [0] * len(racing)


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
    database = reader._started().database
    found = database.run(lambda connection, sql: sql.answers(connection, wanted))
    assert set(found.sound) == set(keys(2))
    assert found.damaged == {}
