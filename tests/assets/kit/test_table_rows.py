"""Rows of an Arrow table as a sequence that decodes them as they are looked at."""

import pyarrow as pa
import pytest

from assets.kit.columns import TEXT, WHOLE, Columns, TableRows

COLUMNS = Columns(name=(TEXT, "A name"), number=(WHOLE, "A number"))
PLAIN = [{"name": f"row {n}", "number": n if n % 3 else None} for n in range(2_500)]


@pytest.fixture
def rows():
    return TableRows(pa.concat_tables([COLUMNS.table(PLAIN[:7]), COLUMNS.table(PLAIN[7:])]))


def test_they_are_what_a_list_of_them_is(rows):
    assert len(rows) == len(PLAIN)
    assert [*rows] == PLAIN
    assert (rows[0], rows[7], rows[-1]) == (PLAIN[0], PLAIN[7], PLAIN[-1])
    assert rows[5:9] == PLAIN[5:9]
    assert rows[::-1000] == PLAIN[::-1000]
    with pytest.raises(IndexError):
        rows[2_500]


def test_the_table_of_them_is_not_made_anew(rows):
    assert COLUMNS.table(rows) is rows.table
