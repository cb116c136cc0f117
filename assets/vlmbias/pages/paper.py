"""The paper's own Tables 2 to 5 and 9 as printed (`paper.csv`): other models, no intervals.

Accuracy in per cent. In Tables 4 and 5 the paper prints differences as well, which follow from it.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from assets.report.cells import Cell, Table
from assets.report.csv_files import read_csv_rows
from assets.report.pivot import pivot
from assets.report.published import Published, PublishedNumber

_FILE = Path(__file__).with_name("paper.csv")
TITLES: Mapping[str, str] = {
    "2": "counting on counterfactual images, by topic",
    "3": "the same, by subtopic",
    "4": "Q3, is this the familiar thing?",
    "5": "other ways of asking, task mean",
    "9": "rows and columns of game boards",
}
"""Tables by number."""


def load_published() -> Published:
    """The task means of Table 2."""
    means = {
        row["model"]: float(row["value"])
        for row in read_csv_rows(_FILE, table="2")
        if row["column"] == "Task mean"
    }
    average = means.pop("Mean")
    best = max(means, key=lambda model: means[model])
    return Published(
        sentence=f"{len(means)} models count right in {average:.2f}\u00a0% of pictures that differ "
        f"from what is usual; the best, {best}, in {means[best]:.2f}\u00a0%.",
        measure="Counterfactual accuracy",
        better="higher is better",
        source="The paper’s Table 2, task means over 1,392 images",
        differences="Models of 2025 and the paper’s own versions of the pictures; no intervals.",
        numbers=[
            PublishedNumber(model, percent / 100, f"{percent:.2f}\u00a0%")
            for model, percent in means.items()
        ],
    )


def restrict_published(published: Published, topics: Collection[str]) -> Published:
    """The means of Table 2 over some topics alone, where one's own are over these."""
    names = [topic.replace("_", " ").capitalize() for topic in topics]
    rows = read_csv_rows(_FILE, table="2")
    total = len({row["column"] for row in rows} - {"Task mean", "Unmodified"})
    if len(names) == total:
        return published
    numbers = []
    for number in published.numbers:
        values = [
            float(row["value"])
            for row in rows
            if row["model"] == number.model and row["column"] in names
        ]
        percent = fmean(values)
        numbers.append(PublishedNumber(number.model, percent / 100, f"{percent:.2f}\u00a0%"))
    least, most = (choose(number.value for number in published.numbers) for choose in (min, max))
    return replace(
        published,
        measure=f"{published.measure} over the same {len(names)} topics",
        source=f"From the paper’s Table 2: means over {len(names)} of its {total} topics",
        differences=f"Over all {total}, as the paper counts, {100 * least:.2f} to "
        f"{100 * most:.2f}\u00a0%. {published.differences}",
        numbers=numbers,
    )


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
