"""The paper's Tables 3 to 6, with our numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from assets.kit.step_run import Row
from assets.report.blind_shares import tabulate_blind_shares
from assets.report.cells import Body, Cell, Table, add_change, number_cell, points_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import Rate, format_count, read_rate
from assets.report.people_estimates import (
    EstimateWords,
    build_estimates_table,
    describe_estimates,
)
from assets.report.pivot import Place, arrange
from assets.vhexpansion.pages.dataset_page import (
    SHORT,
    AnsweredDataset,
    describe_training,
    format_bounds,
    format_parameters,
    parse_parameters,
)
from assets.vhexpansion.pages.paper import SETTINGS
from assets.vhexpansion.pages.sweeps import Point, sweep
from assets.vhexpansion.yes_no_step import NONE

CellOf: TypeAlias = Callable[[Row], Cell]


def unperturbed(dataset: AnsweredDataset) -> Table:
    """Accuracy, symmetric accuracy and new cases on pictures as they were (Table 3)."""
    head = RowHead[Row](
        label=lambda row: str(row["model"]), small=describe_training, evidence=dataset.evidence
    )
    rows = dataset.clean_rows.values()
    return tabulate("Cases and their negations", "Judge", head, _UNPERTURBED, {"": rows})


def overview(datasets: Sequence[AnsweredDataset]) -> Table:
    """The same over all datasets."""
    tables = {dataset.title: unperturbed(dataset) for dataset in datasets}
    bodies = [Body(title, [*table.lines]) for title, table in tables.items()]
    return unperturbed(datasets[0])._replace(bodies=bodies)


def blind(dataset: AnsweredDataset) -> Table:
    """Answers to the cases that equal the judge's own answer without the picture."""
    return tabulate_blind_shares({"": dataset.blind}, has_expected=False)


def rejections(dataset: AnsweredDataset) -> Table:
    """Share of all negations that people reject, by their verdicts about a sample."""
    return build_estimates_table("Negations that people reject", dataset.rejections, _REJECTIONS)


def rejections_finding(dataset: AnsweredDataset) -> str:
    """Say how many negations people reject; empty where they reviewed too few."""
    return describe_estimates(dataset.rejections, _REJECTIONS)


_REJECTIONS = EstimateWords(
    finding="People reject {value} of the negations",
    column="Rejected",
    unit="pairs",
)


def common(dataset: AnsweredDataset) -> Table:
    """Symmetric accuracy and new cases under common perturbations (Table 4)."""
    return _perturbed(dataset, dataset.judges, dataset.common, "Common perturbations")


def adversarial(dataset: AnsweredDataset) -> Table:
    """The same under attacks on a judge's own encoder (Table 5)."""
    own_rows = [row for row in dataset.attacks if row["is_own_encoder"]]
    names = [
        name for name in ("i_fgsm", "pgd") if name in {row["perturbation"] for row in own_rows}
    ]
    judges = list(dict.fromkeys(str(row["model"]) for row in own_rows))
    return _perturbed(dataset, judges, names, "Attacks on a judge’s own encoder")


def _perturbed(
    dataset: AnsweredDataset, judges: Sequence[str], names: Sequence[str], caption: str
) -> Table:
    """A body per measure, a line per perturbation and setting, a column per judge."""
    measures: Mapping[str, tuple[CellOf, Sequence[str]]] = {
        "Symmetric accuracy": (_symmetric, [NONE, *names]),
        "New cases": (_new, names),
        "Says yes": (_says_yes, [NONE, *names]),
    }
    cells = (
        (Place(SHORT[name], judge, format_parameters(parse_parameters(row)), body), cell(row))
        for body, (cell, shown) in measures.items()
        for name in shown
        for judge in judges
        for row in dataset.select_rows(judge, name)
        if row["is_own_encoder"] is not False
    )
    columns, bodies = [("", judge) for judge in judges], [*measures] if names else []
    return arrange(caption, "Perturbation", cells, columns=columns, bodies=bodies, empty=_NOT_ASKED)


def transfer(dataset: AnsweredDataset) -> Table:
    """Effects of attacks for one encoder on each judge, whether it is its own or not."""
    head = RowHead[Row](label=lambda row: str(row["model"]))
    caption = "Attacks for one encoder, shown to every judge"
    return tabulate(caption, "Judge", head, _TRANSFER, {"": dataset.attacks})


def sweeps(dataset: AnsweredDataset) -> list[Table]:
    """Symmetric accuracy where one setting is varied, a table each (Table 6)."""
    points: dict[str, list[Point]] = {}
    for point in sweep(dataset):
        points.setdefault(point.setting, []).append(point)
    return [
        arrange(
            f"Symmetric accuracy by {SETTINGS[setting].lower()}",
            "Judge and perturbation",
            (
                (Place(point.label, f"{point.value:g}"), _bounded(point.row, "symmetric"))
                for point in varied
            ),
            columns=[("", f"{value:g}") for value in sorted({point.value for point in varied})],
            empty=_NOT_ASKED,
        )
        for setting, varied in points.items()
    ]


def _symmetric(row: Row) -> Cell:
    return add_change(_bounded(row, "symmetric"), read_rate(row, "change"))


def _bounded(row: Row, name: str) -> Cell:
    """A share with its interval and, where answers are missing, between what it can lie."""
    return share_cell(read_rate(row, name)._replace(note=format_bounds(row, name)))


def _new(row: Row) -> Cell:
    """`145 of 300 [128, 163]`."""
    if row["new_cases"] is None:
        return Cell("", note="no answer")
    low, high = row["new_cases_low"], row["new_cases_high"]
    numbers = {"": row["new_cases"], "low": low, "high": high, "of": row["generated"]}
    wrong = f"{row['new_cases']:,.1f}".removesuffix(".0")
    return Cell(
        wrong, f"of {format_count(row['generated'])} [{low:,.0f},\u00a0{high:,.0f}]", "", numbers
    )


def _says_yes(row: Row) -> Cell:
    return share_cell(read_rate(row, "yes_rate"))


def _cases(row: Row) -> Cell:
    is_part = row["cases"] < row["total_cases"]
    return number_cell(row["cases"], f"of {format_count(row['total_cases'])}" if is_part else "")


_NOT_ASKED = Cell("", note="not asked")
_UNPERTURBED: Sequence[TableColumn[Row]] = (
    TableColumn("Cases", _cases),
    TableColumn("Accuracy", lambda row: _bounded(row, "accuracy"), ranked=True),
    TableColumn("Symmetric accuracy", lambda row: _bounded(row, "symmetric"), ranked=True),
    TableColumn("New cases", _new, ranked=True),
    TableColumn("Says yes", _says_yes, ranked=True),
    TableColumn("Yes to both", lambda row: share_cell(Rate(row["both_yes_rate"])), ranked=True),
    TableColumn(
        "No answer",
        lambda row: number_cell(row["unanswered"], f"of {format_count(row['requests'])}"),
    ),
)
_TRANSFER: Sequence[TableColumn[Row]] = (
    TableColumn("Encoder", lambda row: Cell(row["encoder"])),
    TableColumn("Its own", lambda row: Cell("yes" if row["is_own_encoder"] else "no")),
    TableColumn(
        "Attack",
        lambda row: Cell(SHORT[row["perturbation"]], format_parameters(parse_parameters(row))),
    ),
    TableColumn("Symmetric accuracy", lambda row: _bounded(row, "symmetric")),
    TableColumn("Change", lambda row: points_cell(read_rate(row, "change"))),
    TableColumn("New cases", _new),
    TableColumn("Says yes", _says_yes),
)
