"""The paper's own Tables 3 to 6, as printed (`paper.csv`): other models, no intervals.

Five cells contradict themselves: so many new cases as are printed cannot leave so few pairs right.
Those have a note.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from assets.report.cells import Cell, Line, Table, margin_cell
from assets.report.csv_files import read_csv_rows
from assets.report.formats import Rate, format_count, format_score
from assets.report.pivot import LongRow, pivot
from assets.vhexpansion.pages.dataset_page import SHORT
from metrics.vhexpansion.symmetry_bounds import find_contradiction

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
"""What Table 6 varies."""


def datasets_like(name: str) -> Sequence[str]:
    """The paper's dataset of that name; all of them for any other."""
    return [dataset for dataset in CASES if dataset.casefold() == name.casefold()] or [*CASES]


def unperturbed(datasets: Sequence[str]) -> Table:
    """Accuracy, symmetric accuracy and new successful cases (Table 3)."""
    return _print("3", "Measure", "measure", datasets)


def common(datasets: Sequence[str]) -> Table:
    """Common perturbations (Table 4)."""
    return _print("4", "Perturbation", ("perturbation", "measure"), datasets)


def adversarial(datasets: Sequence[str]) -> Table:
    """Adversarial perturbations (Table 5)."""
    return _print("5", "Perturbation", ("perturbation", "measure"), datasets)


def sweeps() -> Table:
    """Symmetric accuracy of LLaVA-1.5 on MMVP under I-FGSM, by setting (Table 6)."""
    lines = [
        Line(f"{SETTINGS[row['setting']]}: {row['at']}", [margin_cell(Rate(float(row["value"])))])
        for row in _read_rows("6")
    ]
    caption = "The paper’s Table 6: LLaVA-1.5 on MMVP under I-FGSM"
    return Table.plain(caption, "Setting", [MEASURES["symmetric"]], lines)


def _read_rows(table: str) -> list[LongRow]:
    rows = read_csv_rows(Path(__file__).with_name("paper.csv"))
    return [row for row in rows if row["table"] == table]


def _print(table: str, corner: str, line: str | tuple[str, str], datasets: Sequence[str]) -> Table:
    """A table by dataset, with a column for each model."""
    rows = _read_rows(table)
    values: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        values.setdefault(_find_place(row), {})[row["measure"]] = float(row["value"])
    return pivot(
        f"The paper’s Table {table}",
        corner,
        rows,
        lambda row: _format_cell(row, values[_find_place(row)]),
        body="dataset",
        bodies=datasets,
        line=line,
        column="model",
        titles={**SHORT, **MEASURES},
    )


def _find_place(row: LongRow) -> tuple[str, ...]:
    """The dataset, perturbation and model that several numbers are about."""
    return row["dataset"], row["perturbation"], row["model"]


def _format_cell(row: LongRow, values: Mapping[str, float]) -> Cell:
    """A number, with a note where `values`, the others beside it, contradict it."""
    value, note = float(row["value"]), ""
    if row["measure"] == "new_cases":
        return Cell(format_count(int(value)), numbers={"": value})
    if row["measure"] == "symmetric" and "new_cases" in values:
        sample = _SAMPLED.get((row["table"], row["dataset"], row["model"]))
        cases = sample or CASES[row["dataset"]]
        note = find_contradiction(cases, values.get("accuracy"), value, values["new_cases"])
    return Cell(format_score(value, 3), note=note, numbers={"": value})
