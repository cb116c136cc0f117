"""Tables that are declared by columns, by places of cells, or by long rows."""

from assets.report.cells import MARK, Cell, number_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.pivot import Place, arrange, pivot
from assets.report.rows import Rows
from metrics.statistics.firmness import Evidence

FEW = Evidence(requests=8, answers=8, units=8, min_units=20)
MANY = Evidence(requests=40, answers=40, units=40, min_units=20)
STAND_IN = Evidence(requests=8, answers=8, units=8, min_units=20, is_stand_in=True)
EVIDENCE = {"few": FEW, "many": MANY, "gullible": STAND_IN}
COLUMNS = (
    TableColumn[str]("Letters", lambda name: number_cell(len(name))),
    TableColumn[str]("Right", lambda name: number_cell(1), ranked=True, group="Answers"),
    TableColumn[str]("Wrong", lambda name: number_cell(2), ranked=True, group="Answers"),
)


def test_trials_are_marked_in_ranked_columns_and_their_reasons_stand_beside_the_name():
    head = RowHead[str](
        label=str, small=lambda name: f"judge {name}", evidence=EVIDENCE.__getitem__
    )
    table = tabulate("Answers", "Judge", head, COLUMNS, {"Models": ["few", "many"], "": []})
    assert [(group.label, len(group.heads)) for group in table.groups] == [("", 1), ("Answers", 2)]
    few, many = table.lines
    assert [cell.mark for cell in few.cells] == ["", MARK, MARK]
    assert few.small == "8 of at least 20 pictures, judge few"
    assert [cell.mark for cell in many.cells] == ["", "", ""]
    assert many.small == "judge many"


def test_a_stand_in_has_no_reasons_and_a_mean_is_one():
    head = RowHead[str](label=str, evidence=EVIDENCE.__getitem__, is_mean=lambda name: True)
    (line,) = tabulate("Answers", "Judge", head, COLUMNS, {"": ["gullible"]}).lines
    assert (line.small, line.kind) == ("", "mean")


def test_long_rows_become_lines_and_columns_in_their_order():
    rows = [
        {"kind": "panel", "judge": "b", "size": "small", "measure": "tau", "value": "1"},
        {"kind": "panel", "judge": "a", "size": "large", "measure": "tau", "value": "2"},
        {"kind": "panel", "judge": "a", "size": "large", "measure": "phi", "value": "3"},
        {"kind": "alone", "judge": "b", "size": "small", "measure": "phi", "value": "4"},
    ]
    table = pivot(
        "Agreement",
        "Judge",
        rows,
        lambda row: Cell(row["value"]),
        body="kind",
        line="judge",
        small="size",
        column="measure",
        titles={"tau": "τ", "small": "Small"},
    )
    assert [head.label for head in table.groups[0].heads] == ["τ", "phi"]
    lines = {body.label: [line[:3] for line in body.lines] for body in table.bodies}
    texts = {
        label: [(name, [cell.text for cell in cells], small) for name, cells, small in held]
        for label, held in lines.items()
    }
    assert texts == {
        "panel": [("b", ["1", "–"], "small"), ("a", ["2", "3"], "large")],
        "alone": [("b", ["–", "4"], "small")],
    }


def test_some_bodies_have_the_columns_of_all():
    rows = [
        {"kind": "panel", "judge": "a", "measure": "tau", "value": "2"},
        {"kind": "alone", "judge": "b", "measure": "phi", "value": "4"},
    ]
    table = pivot(
        "Agreement",
        "Judge",
        rows,
        lambda row: Cell(row["value"]),
        body="kind",
        bodies=["alone"],
        line="judge",
        column="measure",
    )
    assert [head.label for head in table.groups[0].heads] == ["tau", "phi"]
    assert [[cell.text for cell in line.cells] for line in table.lines] == [["–", "4"]]


def test_columns_that_are_named_come_first_and_lack_no_cell():
    cells = [
        (Place("b", "x", group="Right"), Cell("1")),
        (Place("a", "y", is_mean=True), Cell("2")),
        (Place("b", "x", group="Right"), Cell("3")),
    ]
    table = arrange("All", "Judge", cells, columns=[("", "z"), ("", "y")], empty=Cell("none"))
    heads = [(group.label, [head.label for head in group.heads]) for group in table.groups]
    assert heads == [("", ["z", "y"]), ("Right", ["x"])]
    lines = [(line.label, [cell.text for cell in line.cells], line.kind) for line in table.lines]
    assert lines == [("b", ["none", "none", "3"], ""), ("a", ["none", "2", "none"], "mean")]


def test_rows_are_looked_up_by_their_values():
    rows = Rows([{"judge": "b", "part": 1}, {"judge": "a", "part": 1}, {"judge": "b", "part": 2}])
    assert rows.select(judge="b", part=2) == [rows[2]]
    assert rows.select(part=1).find(judge="a") is rows[1]
    assert rows.find(judge="c") is None
    assert rows.distinct("judge") == ["b", "a"]
