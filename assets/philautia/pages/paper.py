"""The paper's two tables as its project page prints them (`paper.csv`): other models, no intervals.

Φ-scores there are philautia scores on SelfEval-Cap, the paper's own captions.
"""

from collections.abc import Mapping
from pathlib import Path

from assets.kit.step_run import Row
from assets.philautia.common import LESS, MORE
from assets.report.cells import Cell, Table, mean_cell
from assets.report.csv_files import read_csv_rows
from assets.report.formats import Rate
from assets.report.pivot import pivot
from assets.report.published import Published, PublishedNumber

_FILE = Path(__file__).with_name("paper.csv")
MEASURES: Mapping[str, str] = {"tau_b": "τ_b", "tau_c": "τ_c", "philautia": "Φ-score"}


def agreement() -> Table:
    """Kendall's τ with people in per cent, and the philautia score, of judges and panels."""
    return pivot(
        "The paper’s judges and panels",
        "Judge or panel",
        read_csv_rows(_FILE, table="agreement"),
        _format_cell,
        body="evaluator",
        line="name",
        group="dataset",
        column="measure",
        titles=MEASURES,
    )


def load_published() -> Published:
    """The philautia score of each model scored by itself."""
    rows = [row for row in read_csv_rows(_FILE, table="philautia") if row["evaluator"] == "Self"]
    scores = {row["name"]: float(row["value"]) for row in rows}
    most = max(scores, key=lambda model: scores[model])
    partial = sum(score > 0 for score in scores.values())
    return Published(
        sentence=f"{partial} of {len(scores)} models score their own captions above what leniency "
        f"and quality account for; {most} does so most.",
        measure="Philautia score Φ",
        unit="standard deviations",
        left_label=LESS,
        right_label=MORE,
        better="0 is best",
        source="The paper’s project page, on its own captions (SelfEval-Cap)",
        differences="Ours is in points of 100, with intervals. Other captions and pictures.",
        numbers=[PublishedNumber(model, score, f"{score:.2f}") for model, score in scores.items()],
        is_share=False,
    )


def philautia() -> Table:
    """The philautia score of each model, scored by itself and by the panel."""
    return pivot(
        "The paper’s models, by themselves and by Pomms",
        "Scored by",
        read_csv_rows(_FILE, table="philautia"),
        _format_cell,
        line="evaluator",
        column="name",
    )


def _format_cell(row: Row) -> Cell:
    return mean_cell(Rate(float(row["value"])), 2 if row["measure"] == "philautia" else 1)
