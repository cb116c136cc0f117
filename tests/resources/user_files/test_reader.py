"""The reader of users' tables: every kind gives the same rows, and names what is wrong."""

import json
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resources.user_files.reader import KINDS, read_rows
from resources.user_files.rows import (
    BadRow,
    Number,
    RowCells,
    TableFormat,
    Text,
    UserFileError,
    Whole,
    build_all,
    to_cells,
)

ROWS = [{"name": "a", "side": "left", "score": 1.5}, {"name": "b", "side": "right", "score": 2.0}]
FORMAT = TableFormat(columns=("name", "side", "score"))


class Cells(RowCells):
    name: Text
    side: Literal["left", "right"]
    score: Number
    number: Whole = None


def write(path, rows=ROWS):
    match path.suffix:
        case ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        case ".arrow":
            table = pa.Table.from_pylist(rows)
            with pa.ipc.new_stream(str(path), table.schema) as stream:
                stream.write_table(table)
        case ".json":
            path.write_text(json.dumps(rows))
        case ".jsonl" | ".ndjson":
            path.write_text("\n".join(map(json.dumps, rows)))
        case kind:
            separator = "," if kind == ".csv" else "\t"
            lines = [rows[0], *(row.values() for row in rows)]
            path.write_text("\n".join(separator.join(map(str, line)) for line in lines))
    return path


def read(path, table_format=FORMAT):
    return build_all(path, read_rows(path, table_format), lambda row: to_cells(row, Cells))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_cells(tmp_path, kind):
    cells = read(write(tmp_path / f"mine{kind}"))
    assert [row.model_dump(exclude={"number"}) for row in cells] == ROWS


def test_all_wrong_cells_are_named_with_place_value_and_remedy(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "name,side,score,number\n,up,many,-1\na,left,1,2.5\nb,left,2,\nc,left,nan,true\n"
    )
    with pytest.raises(UserFileError) as raised:
        read(path)
    assert str(raised.value).splitlines() == [
        f"{path} has 3 rows with errors.",
        f"  {path}, line 2: `name` is empty, or no text; `side` is 'up'. Choose from left, right; "
        "`score` is 'many': write a valid number, unable to parse string as a number; `number` is "
        "'-1': write greater than or equal to 0.",
        f"  {path}, line 3: `number` is '2.5': write a valid integer, unable to parse string as an "
        "integer.",
        f"  {path}, line 5: `score` is 'nan': write a finite number; `number` is 'true': write a "
        "valid integer, unable to parse string as an integer.",
    ]


@pytest.mark.slow
def test_an_error_is_bounded_however_many_rows_and_however_long_cells_are(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("name,side,score\n" + f"a,{'x' * 10_000},1\n" * 500)
    with pytest.raises(UserFileError, match="has 500 rows with errors") as raised:
        read(path)
    assert str(raised.value).endswith("and 480 more")
    assert len(str(raised.value)) < 10_000


def test_a_cell_of_a_row_that_is_too_long_is_of_its_row(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(f"name,side,score\n{'x' * 200_000},left,1\nb,left,2\n")
    long, right = read_rows(path, FORMAT)
    assert "field larger than field limit" in long.problem
    assert right.cells["name"] == "b"


def test_a_truth_value_is_no_number(tmp_path):
    path = write(tmp_path / "mine.jsonl", [ROWS[0] | {"score": True, "number": False}])
    with pytest.raises(UserFileError, match=r"`score` is True, and .* `number` is False, and"):
        read(path)


def test_sheets_keep_no_space_and_no_apostrophe_before_a_formula(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("name,side,score,,\n  '=1+1 ,left, 3 ,,\n")
    [row] = read_rows(path, TableFormat(columns=FORMAT.columns, is_sheet=True))
    assert (row.cells["name"], row.cells["score"]) == ("=1+1", "3")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gone.csv", None, r"gone\.csv is not there\. Write it\.$"),
        ("mine.xlsx", "PK", r"is no table\. Save it as one of \.csv"),
        ("mine.csv", "name;side;score\n", r"line 1: no commas"),
        ("mine.csv", "name,name,side\n", r"column 'name' is listed twice"),
        ("mine.csv", "nam,side,score\n", r"no column 'name', did you mean nam\?"),
        ("mine.csv", "side\n", r"no column 'name', 'score'\. Choose from side"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_error(tmp_path, name, text, message):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserFileError, match=message):
        list(read_rows(path, TableFormat(columns=FORMAT.columns, remedy="Write it.")))


def test_a_link_to_nothing_is_named_with_its_target(tmp_path):
    (tmp_path / "mine.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(UserFileError, match=r"is a link to .*gone\.csv, which is not there"):
        list(read_rows(tmp_path / "mine.csv", FORMAT))


def test_a_row_with_a_problem_has_no_cells(tmp_path):
    (tmp_path / "mine.jsonl").write_text("{")
    [row] = read_rows(tmp_path / "mine.jsonl", FORMAT)
    with pytest.raises(BadRow, match="no JSON object on one line"):
        to_cells(row, Cells)
