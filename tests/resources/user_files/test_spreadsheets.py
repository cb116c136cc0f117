"""No cell of a CSV is run as a formula, and every text comes back as it was written."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.user_files.spreadsheets import format_csv, guard_cell, guard_sheet, unguard_cell

HOSTILE = [
    '=HYPERLINK("http://x","y")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "＝1+1",
]


@pytest.mark.parametrize("cell", HOSTILE)
def test_what_begins_as_a_formula_is_text(cell):
    written = format_csv(["said"], [{"said": cell}])
    ((head,), (first,)) = csv.reader(io.StringIO(written, newline=""))
    assert (head, first) == ("said", f"'{cell}")


@pytest.mark.parametrize(
    "cell", ["-3.5", "+7", "1e-3", "-0.25", "a = b", "5-legged dog", "'tis", ""]
)
def test_numbers_and_words_stay(cell):
    assert guard_cell(cell) == cell


@given(st.text())
def test_every_text_comes_back(cell):
    assert unguard_cell(guard_cell(cell)) == cell
    assert not guard_cell(cell).startswith(("=", "@", "\t", "\r", "\n"))


@given(st.text(alphabet="'=+-@ab1"))
def test_apostrophes_of_ones_own_come_back(cell):
    assert unguard_cell(guard_cell(cell)) == cell


def test_a_sheet_of_somebody_else_is_guarded_once():
    sheet = b'image,verdict,reason\r\nab,accept,"=HYPERLINK(""http://x"")"\r\n'
    safe = guard_sheet(sheet)
    assert b"\"'=HYPERLINK(" in safe
    assert guard_sheet(safe) == safe


def test_a_harmless_sheet_keeps_its_bytes():
    sheet = "\ufeffimage,verdict,reason\nab,reject,'tis small\n".encode()
    assert guard_sheet(sheet) == sheet


def test_what_is_no_text_is_said():
    with pytest.raises(ValueError, match="codec can't decode"):
        guard_sheet(b"\xff\xfe=1")
