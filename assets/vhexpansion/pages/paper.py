"""The paper's own Tables 3 to 6, as printed (`paper.csv`): other models, no intervals.

Five cells contradict themselves: so many new cases as are printed cannot leave so few pairs right.
Those have a note.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from assets.report.cells import Body, Cell, Line, Table, margin
from assets.report.csv_files import rows_of_csv
from assets.report.formats import NONE as NOTHING
from assets.report.formats import Rate, count, score
from assets.vhexpansion.pages.dataset_page import SHORT
from metrics.symmetry_bounds import contradiction

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
Printed = Mapping[str, str]


def printed(table: str) -> list[Printed]:
    """Every number of a table."""
    rows = rows_of_csv(Path(__file__).with_name("paper.csv"))
    return [row for row in rows if row["table"] == table]


def datasets_like(name: str) -> Sequence[str]:
    """The paper's dataset of that name; all of them for any other."""
    return [each for each in CASES if each.casefold() == name.casefold()] or [*CASES]


def unperturbed(datasets: Sequence[str]) -> Table:
    """Accuracy, symmetric accuracy and new successful cases (Table 3)."""
    return _table("3", "The paper’s Table 3", datasets, _by_measure)


def common(datasets: Sequence[str]) -> Table:
    """Common perturbations (Table 4)."""
    return _table("4", "The paper’s Table 4", datasets, _by_perturbation)


def adversarial(datasets: Sequence[str]) -> Table:
    """Adversarial perturbations (Table 5)."""
    return _table("5", "The paper’s Table 5", datasets, _by_perturbation)


def sweeps() -> Table:
    """Symmetric accuracy of LLaVA-1.5 on MMVP under I-FGSM, by setting (Table 6)."""
    lines = [
        Line(f"{SETTINGS[row['setting']]}: {row['at']}", [margin(Rate(float(row["value"])))])
        for row in printed("6")
    ]
    caption = "The paper’s Table 6: LLaVA-1.5 on MMVP under I-FGSM"
    return Table.plain(caption, "Setting", [MEASURES["symmetric"]], lines)


_Lines = Callable[[Sequence[Printed], Sequence[str]], Iterator[Line]]


def _table(number: str, caption: str, datasets: Sequence[str], lines: _Lines) -> Table:
    held = printed(number)
    models = list(dict.fromkeys(row["model"] for row in held))
    bodies = [
        Body(name, [*lines([row for row in held if row["dataset"] == name], models)])
        for name in datasets
    ]
    corner = "Measure" if lines is _by_measure else "Perturbation"
    return Table.of_bodies(caption, corner, models, bodies)


def _by_measure(rows: Sequence[Printed], models: Sequence[str]) -> Iterator[Line]:
    for measure, title in MEASURES.items():
        yield Line(title, [_cell(rows, "none", model, measure) for model in models])


def _by_perturbation(rows: Sequence[Printed], models: Sequence[str]) -> Iterator[Line]:
    there = dict.fromkeys(row["perturbation"] for row in rows)
    for measure in ("symmetric", "new_cases"):
        for name in there:
            if (measure, name) != ("new_cases", "none"):
                cells = [_cell(rows, name, model, measure) for model in models]
                yield Line(SHORT[name], cells, small=MEASURES[measure].lower())


def _cell(rows: Sequence[Printed], perturbation: str, model: str, measure: str) -> Cell:
    held = [row for row in rows if row["perturbation"] == perturbation and row["model"] == model]
    values = {row["measure"]: float(row["value"]) for row in held}
    if measure not in values:
        return Cell(NOTHING)
    value, note = values[measure], ""
    if measure == "symmetric" and "new_cases" in values:
        table, dataset = held[0]["table"], held[0]["dataset"]
        cases = _SAMPLED.get((table, dataset, model), CASES[dataset])
        note = contradiction(cases, values.get("accuracy"), value, values["new_cases"])
    text = count(int(value)) if measure == "new_cases" else score(value, 3)
    return Cell(text, note=note, numbers={"": value})
