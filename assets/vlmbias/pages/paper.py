"""The paper's own Tables 2 to 5 and 9 as printed (`paper.csv`): other models, no intervals.

Accuracy in per cent. In Tables 4 and 5 the paper prints differences as well, which follow from it.
"""

from collections.abc import Mapping
from pathlib import Path

from assets.report.cells import Cell, Table
from assets.report.csv_files import read_csv_rows
from assets.report.pivot import pivot

_FILE = Path(__file__).with_name("paper.csv")
TITLES: Mapping[str, str] = {
    "2": "counting on counterfactual images, by topic",
    "3": "the same, by subtopic",
    "4": "Q3, is this the familiar thing?",
    "5": "other ways of asking, task mean",
    "9": "rows and columns of game boards",
}
"""Tables by number."""


def printed_table(number: str) -> Table:
    """One of the tables, with a line for each model."""
    return pivot(
        f"The paper’s Table {number}: {TITLES[number]}",
        "Model",
        read_csv_rows(_FILE, table=number),
        lambda row: _format_cell(float(row["value"])),
        line="model",
        group="group",
        column="column",
    )


def _format_cell(percent: float) -> Cell:
    return Cell(f"{percent:.2f}\u00a0%", numbers={"": percent / 100})
