"""Rows of a stored table as a sequence that reads them as they are looked at."""

import re

import pytest
from dagster import AssetKey

from assets.kit.checks import find_miscounted_keys, unparsed_rate_check
from assets.kit.columns import (
    BOOLEAN,
    REAL,
    TEXT,
    TEXTS,
    WHOLE,
    Columns,
    TableRows,
    content_hash,
    select_values,
    to_frame,
    to_materialize_result,
)
from resources.faults import CorruptItem
from resources.storage.streamed_tables import StoredTable, TableWriter

COLUMNS = Columns(
    name=(TEXT, "A name"), number=(WHOLE, "A number"), calls=(TEXTS, "Some"), real=(REAL, "A real")
)
PLAIN = [
    {
        "name": f"row {n}",
        "number": n if n % 3 else None,
        "calls": None if n % 5 == 0 else ["a", None][: n % 3],
        "real": n / 7 if n % 2 else None,
    }
    for n in range(6_500)
]


def test_nothing_is_stored_that_does_not_say_whether_it_is_a_stand_in():
    columns = Columns(is_stand_in=(BOOLEAN, "Whether it is"), provenance=(TEXT, "How"))
    told = columns.build_table(
        [{"is_stand_in": True, "provenance": None}, {"is_stand_in": False, "provenance": None}]
    )
    assert to_materialize_result(told).value is told
    with pytest.raises(ValueError, match="1 of 2 rows do not say"):
        to_materialize_result(
            columns.build_table([{"is_stand_in": True}, {"provenance": "by sketch"}])
        )


def test_a_column_that_is_not_there_is_named(tmp_path):
    columns = Columns(name=(TEXT, "A name"), numbers=(WHOLE, "A number"))
    frame, told = (
        stored(tmp_path).to_frame(["name", "number"]),
        "has no column `numbers` (the nearest",
    )
    asset = AssetKey(["zoo", "animals"])
    with pytest.raises(
        CorruptItem, match=rf"zoo/animals {re.escape(told)}.* Materialize zoo/animals"
    ):
        columns.read_rows(frame, asset)
    with pytest.raises(CorruptItem, match=re.escape(told)):
        list(columns.iterate_rows(stored(tmp_path), "name", "numbers"))
    first = {"name": "row 0", "numbers": None}
    assert columns.read_rows(frame.rename(columns={"number": "numbers"})[:1], asset) == [first]


def stored(folder, *parts):
    """A table that is written in parts of so many rows, and what is left."""
    start = 0
    with TableWriter(COLUMNS.schema, folder) as table:
        for size in (*parts, len(PLAIN)):
            table.write(COLUMNS.build_table(PLAIN[start : start + size]))
            start += size
        return table.finish()


@pytest.fixture
def rows(tmp_path):
    return TableRows(stored(tmp_path, 7, 1_000))


def test_they_are_what_a_list_of_them_is(rows):
    assert len(rows) == len(PLAIN)
    assert [*rows] == PLAIN
    assert (rows[0], rows[7], rows[-1]) == (PLAIN[0], PLAIN[7], PLAIN[-1])
    assert rows[5:9] == PLAIN[5:9]
    assert rows[::-1000] == PLAIN[::-1000]
    with pytest.raises(IndexError):
        rows[len(PLAIN)]


def test_some_columns_are_what_those_of_a_list_are(rows):
    assert [*select_values(rows, "number", "name")] == [*select_values(PLAIN, "number", "name")]
    found, plain = (to_frame(each, "name", "real") for each in (rows, PLAIN))
    assert str(found["name"].dtype) == "category"
    assert found["name"].tolist() == plain["name"].tolist()
    assert found["real"].equals(plain["real"])


def test_how_it_was_written_changes_no_version(tmp_path):
    versions = {
        content_hash(stored(tmp_path, *parts)) for parts in ((), (7, 1_000), (5_000,), (5_001, 1))
    }
    assert len(versions) == 1
    few = COLUMNS.build_table(PLAIN[:5_000])
    assert content_hash(StoredTable.from_arrow(few)) == content_hash(few)
    assert content_hash(StoredTable.from_arrow(few[:0])) == content_hash(few[:0])
    assert content_hash(StoredTable.from_arrow(few[:4_999])) != content_hash(few)


def test_names_that_are_missing_doubled_or_strange_are_told(rows):
    every = [(row["name"],) for row in PLAIN]
    assert not [*find_miscounted_keys(rows, lambda: every[::-1], ["name"])]
    wanted = [("row a",), *every[1:], ("row 5",)]
    assert [*find_miscounted_keys(rows, lambda: wanted, ["name"])] == [
        ("row a", "0 rows"),
        ("row 5", "1 rows"),
        ("row 0", "1 rows"),
    ]
    doubled = [*PLAIN, PLAIN[3]]
    assert [*find_miscounted_keys(doubled, lambda: every, ["name"])] == [("row 3", "2 rows")]


def test_too_many_replies_that_cannot_be_used_are_told_by_column():
    ended = {"left": ["answered"] * 19 + ["unparsed"], "right": ["answered", "refused", "failed"]}
    rows = [{"side": side, "outcome": each} for side, some in ended.items() for each in some]
    check = unparsed_rate_check("side", "Read some.")
    assert check.passes(None, rows[:20]).passed
    found = check.passes(None, rows)
    assert not found.passed
    assert found.metadata["unread_share"].value == 0.5
    assert "| right | 0 | 1 | 2 | 0.5 |" in found.metadata["shares"].value
    assert check.passes(None, [{"side": "left", "outcome": "failed"}]).passed


def test_a_key_that_is_no_column_is_refused():
    columns = Columns(sha256=(TEXT, "The picture"), number=(WHOLE, "A number"))
    rows = [{"sha256": "0"}, {"sha_256": "1", "note": "x"}]
    with pytest.raises(ValueError, match=r"`note`, `sha_256` \(the nearest column is `sha256`\)"):
        columns.build_table(rows)
    with pytest.raises(ValueError, match=r"`sha_256` .* Columns of the table: sha256, number\."):
        columns.build_table(rows, ["note"])
    table = columns.build_table([{"sha256": "0"}, {"number": 1, "note": "x"}], ["note"])
    assert table.to_pylist() == [{"sha256": "0", "number": None}, {"sha256": None, "number": 1}]
