"""The paper's own Tables 3 to 6, as printed (`paper.csv`): other models, no intervals.

Five cells contradict themselves: so many new cases as are printed cannot leave so few pairs right.
Those have a note.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from assets.kit.step_run import Row
from assets.report.cells import Cell, Line, Table, share_cell
from assets.report.csv_files import read_csv_rows
from assets.report.formats import Rate, format_count, format_percent
from assets.report.pivot import pivot
from assets.report.published import Published, PublishedNumber
from assets.vhexpansion.pages.dataset_page import SHORT
from metrics.vhexpansion.symmetry_bounds import find_contradiction

_FILE = Path(__file__).with_name("paper.csv")
CASES: Mapping[str, int] = {"MMVP": 300, "VHTest": 1_200, "POPE": 9_000}
"""The paper's datasets with their cases (Table 1)."""
_SAMPLED = {("4", "POPE", "GPT-4o"): 3_000}
MEASURES: Mapping[str, str] = {
    "accuracy": "Accuracy",
    "symmetric": "Symmetric accuracy",
    "new_cases": "New cases",
}
SETTINGS: Mapping[str, str] = {
    "epsilon": "ε",
    "step": "Step γ",
    "iterations_hallucinating": "Iterations where it hallucinates",
    "iterations": "Iterations where it does not",
    "repeats": "Repeats",
    "temperature": "Temperature",
}
"""Settings that Table 6 varies."""


_LEADING = "POPE"
"""The largest dataset."""


def load_published() -> Published:
    """Symmetric accuracy on the largest dataset (Table 3)."""
    numbers: dict[str, dict[str, str]] = {"accuracy": {}, "symmetric": {}}
    for row in read_csv_rows(_FILE, table="3"):
        if row["dataset"] == _LEADING and row["measure"] in numbers:
            numbers[row["measure"]][row["model"]] = row["value"]
    right, both = numbers["accuracy"], numbers["symmetric"]
    model = max(right, key=lambda name: float(right[name]) - float(both[name]))
    return Published(
        sentence=f"{model} answers {format_percent(float(right[model]))} of the questions of "
        f"{_LEADING} right, and {format_percent(float(both[model]))} together with "
        "their negations.",
        measure="Symmetric accuracy",
        better="higher is better",
        source=f"The paper’s Table 3, {CASES[_LEADING]:,} cases of {_LEADING}",
        differences="Models of 2024 and other negations; no intervals.",
        numbers=[
            PublishedNumber(name, float(text), format_percent(float(text)))
            for name, text in both.items()
        ],
    )


def datasets_like(name: str) -> Sequence[str]:
    """The paper's dataset of that name; all of them for any other."""
    return [dataset for dataset in CASES if dataset.casefold() == name.casefold()] or [*CASES]


def printed_table(number: str, datasets: Sequence[str]) -> Table:
    """Table 3, 4 (common perturbations) or 5 (attacks), with a column for each model."""
    rows = read_csv_rows(_FILE, table=number)
    values: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        values.setdefault(_find_place(row), {})[row["measure"]] = float(row["value"])
    is_perturbed = number != "3"
    return pivot(
        f"The paper’s Table {number}",
        "Perturbation" if is_perturbed else "Measure",
        rows,
        lambda row: _format_cell(row, values[_find_place(row)]),
        body="dataset",
        bodies=datasets,
        line="perturbation" if is_perturbed else "measure",
        small="measure" if is_perturbed else "",
        column="model",
        titles={**SHORT, **MEASURES},
    )


def sweeps() -> Table:
    """Symmetric accuracy of LLaVA-1.5 on MMVP under I-FGSM, by setting (Table 6)."""
    lines = [
        Line(f"{SETTINGS[row['setting']]}: {row['at']}", [share_cell(Rate(float(row["value"])))])
        for row in read_csv_rows(_FILE, table="6")
    ]
    caption = "The paper’s Table 6: LLaVA-1.5 on MMVP under I-FGSM"
    return Table.plain(caption, "Setting", [MEASURES["symmetric"]], lines)


def _find_place(row: Row) -> tuple[str, ...]:
    """The dataset, perturbation and model that several numbers are about."""
    return row["dataset"], row["perturbation"], row["model"]


def _format_cell(row: Row, values: Mapping[str, float]) -> Cell:
    """A number, with a note where `values`, the others beside it, contradict it."""
    value, note = float(row["value"]), ""
    if row["measure"] == "new_cases":
        return Cell(format_count(int(value)), numbers={"": value})
    if row["measure"] == "symmetric" and "new_cases" in values:
        sample = _SAMPLED.get((row["table"], row["dataset"], row["model"]))
        cases = sample or CASES[row["dataset"]]
        note = find_contradiction(cases, values.get("accuracy"), value, values["new_cases"])
    return Cell(format_percent(value), note=note, numbers={"": value})
