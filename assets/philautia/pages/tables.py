"""The matrix as a heat map, self-preference, the blocks of families, and how judges score."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from assets.kit.step_run import Row
from assets.philautia.pages.dataset_page import SETTING_WORDS, ComparedDataset
from assets.philautia.preference_matrix import CELL, EVALUATOR, GENERATOR
from assets.report.cells import Cell, Line, Table, mark_trial, mean_cell, number_cell, rate_numbers
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import NONE as NOTHING
from assets.report.formats import (
    Rate,
    format_count,
    format_score,
    format_signed,
    format_signed_interval,
    read_rate,
)

_Judge: TypeAlias = tuple[ComparedDataset, str]
"""A judge that has written and scored captions of a dataset."""
_MIN_P = 0.001
_FULL_HEAT = 5.0
"""Points that are coloured in full where no cell has more."""
_HEATED = (
    *("mean", "scored", "missing", "standardized", "standardized_low", "standardized_high"),
    *("preference", "preference_low", "preference_high"),
)
"""The numbers of a cell in the CSV of a heat map."""


def heat_map(dataset: ComparedDataset, setting: str, models: Sequence[str] | None = None) -> Table:
    """Preference in points, with Φ̃ below it: who wrote captions by who scored them.

    `models` are those that are shown; by default all.
    """
    writers, judges = (
        [name for name in names if models is None or name in models]
        for names in dataset.names(setting)
    )
    rows = dataset.part(setting, CELL)
    most = max([_FULL_HEAT, *(abs(row["preference"] or 0) for row in rows)])
    cells = {(row["generator"], row["evaluator"]): row for row in rows}
    lines = [
        Line(name, [_heated(cells.get((name, judge)), name == judge, most) for judge in judges])
        for name in writers
    ]
    among = f" among {', '.join(writers)}" if models is not None else ""
    caption = f"Preference{among}, {SETTING_WORDS[setting]}"
    return Table.plain(caption, "Written by ↓, scored by →", judges, lines)


def _heated(row: Row | None, is_own: bool, most: float) -> Cell:
    """`+11.8 1.32`, coloured by the points as a share of the most in the map."""
    empty = Cell("", framed=is_own, heat=0.0)
    if row is None or not row["requests"]:
        return empty._replace(note="not asked")
    numbers = {name.replace("_", " "): row[name] for name in _HEATED if row[name] is not None}
    missing = f"{format_count(row['missing'])} missing" if row["missing"] else ""
    points, standardized = row["preference"], row["standardized"]
    if standardized is None or points is None:
        notes = ", ".join(filter(None, (row["reason"] or "no variance", missing)))
        return empty._replace(note=notes, numbers=numbers)
    return Cell(
        format_signed(points),
        format_score(standardized),
        missing,
        {"": points, **numbers},
        heat=points / most,
        framed=is_own,
    )


def self_preference(datasets: Sequence[ComparedDataset]) -> Table:
    """Self-preference of each judge in every setting, with a body per dataset."""
    settings = [
        setting
        for setting in SETTING_WORDS
        if any(setting in dataset.settings for dataset in datasets)
    ]

    def list_reasons(judge: _Judge) -> str:
        dataset, name = judge
        evidence = [dataset.evidence(setting, name) for setting in settings]
        reasons = [reason for judge_evidence in evidence for reason in judge_evidence.reasons]
        return "" if dataset.is_stand_in else ", ".join(dict.fromkeys(reasons))

    columns = [column for setting in settings for column in _own_columns(datasets, setting)]
    bodies = {
        dataset.title: [
            (dataset, name)
            for name in dict.fromkeys(
                row["generator"] for setting in settings for row in dataset.models(setting)
            )
        ]
        for dataset in datasets
    }
    head = RowHead[_Judge](label=lambda judge: judge[1], small=list_reasons)
    return tabulate("Self-preference", "Judge", head, columns, bodies)


def _own_columns(datasets: Sequence[ComparedDataset], setting: str) -> list[TableColumn[_Judge]]:
    """The numbers of a setting; those on complete pictures where answers are missing."""

    def column(label: str, detail: str, cell: Callable[[Row | None], Cell]) -> TableColumn[_Judge]:
        def mark(judge: _Judge) -> Cell:
            dataset, name = judge
            row = dataset.find_own_row(setting, name)
            return mark_trial(cell(row), dataset.evidence(setting, name).firmness)

        return TableColumn(label, mark, group=SETTING_WORDS[setting].capitalize(), detail=detail)

    columns = [
        column("Points", "", lambda row: _score_cell(row, "preference", points_cell)),
        column("Φ̃", "philautia score", lambda row: _score_cell(row, "standardized", mean_cell)),
    ]
    if any(row["complete_images"] for dataset in datasets for row in dataset.models(setting)):
        columns.append(column("Complete pictures", "points", _complete_cell))
    return columns


def _score_cell(row: Row | None, name: str, cell: Callable[[Rate], Cell]) -> Cell:
    return Cell("", note="not scored") if row is None else cell(read_rate(row, name))


def _complete_cell(row: Row | None) -> Cell:
    """`+0.3 [−1.0, +1.7]`, of so many pictures, and whether it differs from that of all."""
    if row is None or not row["complete_images"]:
        return Cell(NOTHING)
    cell = points_cell(read_rate(row, "complete_preference"))
    pictures = f"{format_count(row['complete_images'])} pictures"
    return cell._replace(note=f"{pictures}, differs" if row["missing_matters"] else pictures)


def points_cell(rate: Rate) -> Cell:
    """`+11.8 [+9.8, +13.9]`."""
    return Cell(
        format_signed(rate.value), format_signed_interval(rate), rate.note, rate_numbers(rate)
    )


def probability(value: float | None) -> Cell:
    """`0.042`, or `< 0.001`."""
    if value is None:
        return Cell(NOTHING)
    return Cell(f"< {_MIN_P}" if value < _MIN_P else format_score(value, 3), numbers={"": value})


def families(dataset: ComparedDataset) -> Table:
    """Cross-model preference of each family, with its permutation test."""
    bodies = {
        SETTING_WORDS[setting].capitalize(): dataset.families(setting)
        for setting in dataset.settings
    }
    head = RowHead[Row](label=lambda row: str(row["family"]))
    return tabulate("Preference within families", "Family", head, _FAMILY, bodies)


def characters(dataset: ComparedDataset, setting: str) -> list[Table]:
    """Quality of each model's captions, and leniency and scale of each judge."""
    words = SETTING_WORDS[setting]
    return [
        tabulate(
            f"{caption}, {words}",
            corner,
            RowHead[Row](label=lambda row: str(row[row["row_type"]])),
            columns,
            {"": dataset.part(setting, part)},
        )
        for part, (caption, corner, columns) in _CHARACTERS.items()
    ]


_FAMILY: Sequence[TableColumn[Row]] = (
    TableColumn("Members", lambda row: Cell(", ".join(row["members"]))),
    TableColumn("Cells", lambda row: number_cell(row["cell_count"])),
    TableColumn(
        "Points",
        lambda row: points_cell(read_rate(row, "preference"))._replace(note=row["reason"] or ""),
    ),
    TableColumn("Φ̃", lambda row: mean_cell(read_rate(row, "standardized"))),
    TableColumn("p", lambda row: probability(row["p"])),
    TableColumn("p, Holm", lambda row: probability(row["p_holm"])),
)
_CHARACTERS: Mapping[str, tuple[str, str, Sequence[TableColumn[Row]]]] = {
    GENERATOR: (
        "Quality of captions",
        "Written by",
        [TableColumn("Points", lambda row: points_cell(read_rate(row, "quality")))],
    ),
    EVALUATOR: (
        "How judges score",
        "Judge",
        [
            TableColumn("Leniency", lambda row: mean_cell(read_rate(row, "leniency"), 1)),
            TableColumn("Scale", lambda row: mean_cell(read_rate(row, "scale"))),
        ],
    ),
}
"""Title, corner and columns of each part of the matrix."""
