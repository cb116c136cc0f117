"""The paper's own numbers (`paper.csv`), for orientation: other pictures and models, no intervals.

Tables 1 and 2 as printed, and the overall failure rates that §5.1 gives in its text; of VQAScore
and GPT-4o it says no more than that they fail in over 45 % of cases.
"""

from pathlib import Path

from assets.report.cells import Cell, Table
from assets.report.csv_files import read_csv_rows
from assets.report.pivot import pivot

KEPT = {"animals": 8_360 / 10_000, "demography": 5_814 / 12_000, "objects": 5_293 / 9_375}
"""Share of its pairs that the paper's filter kept, by domain (§4): of all 62.05 %."""


def failures() -> Table:
    """The share of pairs that fail, over all domains (§5.1)."""
    return _print("failures", "The paper's failure rates")


def margins() -> Table:
    """Distances of scores where the ranking is right, and where it is wrong (Table 1)."""
    return _print("1", "The paper's Table 1")


def scores() -> Table:
    """Mean scores of both sides and their difference, on what people scored (Table 2)."""
    return _print("2", "The paper's Table 2")


def _print(table: str, caption: str) -> Table:
    return pivot(
        caption,
        "Metric",
        read_csv_rows(Path(__file__).with_name("paper.csv"), table=table),
        lambda row: Cell(row["value"]),
        line="metric",
        group="group",
        column="column",
    )
