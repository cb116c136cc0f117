"""The paper's own numbers (`paper.csv`), for orientation: other pictures and models, no intervals.

Tables 1 and 2 as printed, and the overall failure rates that §5.1 gives in its text; of VQAScore
and GPT-4o it says no more than that they fail in over 45 % of cases.
"""

from pathlib import Path

from assets.report.cells import Cell, Table
from assets.report.csv_files import read_csv_rows
from assets.report.pivot import pivot
from assets.report.published import Published, PublishedNumber

_FILE = Path(__file__).with_name("paper.csv")
KEPT = {"animals": 8_360 / 10_000, "demography": 5_814 / 12_000, "objects": 5_293 / 9_375}
"""Share of its pairs that the paper's filter kept, by domain (§4): of all 62.05 %."""


def load_published() -> Published:
    """The failure rates over all domains that the text gives as numbers (§5.1)."""
    rates = {
        row["metric"]: row["value"]
        for row in read_csv_rows(_FILE, table="failures")
        if not row["value"].startswith("over")
    }
    shares = {
        metric: float(text.removesuffix("\u00a0%").removesuffix(" %")) / 100
        for metric, text in rates.items()
    }
    worst = max(shares, key=lambda metric: shares[metric])
    return Published(
        sentence=f"{worst} prefers the typical picture to the one that fits the text in "
        f"{rates[worst]} of pairs, and people in {rates['Human']}.",
        measure="Prototypicality failure rate",
        better="lower is better",
        source="The paper’s §5.1, over all three domains",
        differences="Pictures by other painters, pairs kept by another filter, no intervals. Of "
        "VQAScore and GPT-4o it says “over 45 %”.",
        numbers=[PublishedNumber(metric, share, rates[metric]) for metric, share in shares.items()],
    )


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
        read_csv_rows(_FILE, table=table),
        lambda row: Cell(row["value"]),
        line="metric",
        group="group",
        column="column",
    )
