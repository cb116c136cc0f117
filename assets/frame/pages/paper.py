"""The paper's own numbers, for orientation: pictures by DALL-E 3, its judges, no intervals.

`paper.csv` holds its Tables 3, 4 and 12 as printed, `paper_mitigation.csv` Tables 5 (the mean over
all domains but outdoor) and 6, of GPT-4.1-mini.
"""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import pandas as pd

from assets.frame.pages.source_page import SHORT
from assets.kit.columns import to_records
from assets.report.cells import Cell, Line, Table, mean_cell
from assets.report.csv_files import read_csv_rows
from assets.report.formats import Rate, capitalize_first, format_change, format_score
from assets.report.pivot import Place, arrange, pivot
from assets.report.published import Published, PublishedNumber
from generators.prompts.visual_concepts import DOMAINS
from metrics.frame.inflation import success_rates

_BEAUTY, _ORIGINAL = "beauty", "Orig."
_TITLES = {**SHORT, **{domain: capitalize_first(domain) for domain in DOMAINS}}


@cache
def printed() -> pd.DataFrame:
    """Tables 3, 4 and 12: `model`, `domain`, `bias`, `original`, `biased`, `percent`."""
    return pd.read_csv(Path(__file__).with_name("paper.csv"))


def load_published() -> Published:
    """Attack success rates (Figure 2), from the printed percentages of Tables 3, 4 and 12."""
    rates = {
        str(model): float(success_rates(rows["percent"].to_numpy())[0])
        for model, rows in printed().groupby("model", sort=False)
    }
    least, most = min(rates.values()), max(rates.values())
    return Published(
        sentence="Biases that have nothing to do with the picture raise the scores of "
        f"{len(rates)} judges in {100 * least:.0f} to {100 * most:.0f}\u00a0% of cases. (By "
        "chance it would be about a half, or more with the best of several settings: our remark.)",
        measure="Attack success",
        better="lower is better",
        source="The paper’s Tables 3, 4 and 12, a case each domain and bias",
        differences="Pictures by DALL-E 3, words placed where they work best on all pictures, no "
        "intervals.",
        numbers=[
            PublishedNumber(model, rate, f"{100 * rate:.2f}\u00a0%")
            for model, rate in rates.items()
        ],
    )


def inflation() -> Table:
    """Mean scores before and after each bias (Tables 3 and 12)."""

    def cells() -> Iterator[tuple[Place, Cell]]:
        for row in to_records(printed()[printed()["bias"].ne(_BEAUTY)]):
            place = partial(Place, capitalize_first(row["domain"]), body=row["model"])
            yield place(_ORIGINAL), _format_cell(row["original"])
            yield place(SHORT[row["bias"]]), _format_cell(row["biased"], row["percent"])

    return arrange("The paper’s Tables 3 and 12", "Domain", cells())


def beauty() -> Table:
    """The beauty filter on people (Table 4)."""

    def cells() -> Iterator[tuple[Place, Cell]]:
        for row in to_records(printed()[printed()["bias"].eq(_BEAUTY)]):
            yield Place(row["model"], _ORIGINAL), _format_cell(row["original"])
            yield Place(row["model"], "Beauty"), _format_cell(row["biased"], row["percent"])

    return arrange("The paper’s Table 4", "Judge", cells())


def success() -> Table:
    """Attack success rates and mean rises (Figure 2), from the printed percentages."""
    lines = []
    for model, rows in printed().groupby("model", sort=False):
        rate, rise = map(float, success_rates(rows["percent"].to_numpy()))
        cells = [
            Cell(f"{100 * rate:.2f}\u00a0%", numbers={"": rate}),
            Cell(format_change(rise), numbers={"": rise}),
        ]
        lines.append(Line(str(model), cells))
    caption = "Attack success by the paper’s Tables 3, 4 and 12"
    return Table.plain(caption, "Judge", ["Success rate", "Mean rise"], lines)


def printed_table(number: str) -> Table:
    """Mean scores of GPT-4.1-mini by template (Table 5), or of its best biases (Table 6)."""
    return pivot(
        f"The paper’s Table {number}: GPT-4.1-mini",
        {"5": "Bias", "6": "Domain"}[number],
        read_csv_rows(Path(__file__).with_name("paper_mitigation.csv"), table=number),
        lambda row: _format_cell(
            float(row["score"]), float(row["percent"]) if row["percent"] else None
        ),
        line="line",
        column="column",
        titles=_TITLES,
    )


def _format_cell(before: float, percent: float | None = None) -> Cell:
    if percent is None or pd.isna(percent):
        return mean_cell(Rate(before))
    numbers = {"": before, "percent": percent}
    return Cell(format_score(before), format_change(percent), numbers=numbers)
