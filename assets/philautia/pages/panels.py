"""Judges and panels: agreement with people, and preference for captions of their members."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from assets.kit.step_run import Row
from assets.philautia.pages.dataset_page import SETTING_WORDS, ComparedDataset
from assets.philautia.pages.paper import MEASURES
from assets.philautia.pages.tables import points_cell
from assets.philautia.pomms import ALONE, GIVEN, GREEDY
from assets.report.cells import Cell, Table, margin_cell, mean_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import NONE as NOTHING
from assets.report.formats import Rate, format_count, format_score, format_signed, read_rate

CHOSEN = {
    ALONE: "Alone",
    GIVEN: "Panels in the given order",
    GREEDY: "Panels by search, chosen on one half of the pictures and reported on the other",
}


class _Panel(NamedTuple):
    """A panel as a table names it, or a single judge; `rows` are by who wrote captions."""

    label: str
    members: Sequence[str]
    selection: str
    rows: Mapping[str, Row] = {}


def panels(datasets: Sequence[ComparedDataset], setting: str) -> Table:
    """Agreement with people, and self-preference, of judges and panels (the page's first table)."""
    columns = [
        *(
            TableColumn(MEASURES[name], partial(_tau, dataset, setting, name), group=dataset.name)
            for dataset in datasets
            if any(row["ratings"] for row in dataset.panels(setting))
            for name in ("tau_b", "tau_c")
        ),
        *(
            column
            for dataset in datasets
            if setting in dataset.settings
            for column in _preference_columns(dataset, setting)
        ),
    ]
    bodies = {
        title: _name_panels(selection, _list_members(datasets, setting, selection))
        for selection, title in CHOSEN.items()
    }
    caption = f"Judges and panels, {SETTING_WORDS[setting]}"
    return tabulate(caption, "Judge or panel", _HEAD, columns, bodies)


def against_panels(dataset: ComparedDataset, setting: str) -> Table:
    """Captions of each model, scored by itself and by panels (the page's second table)."""
    writers, _ = dataset.names(setting)
    own_rows = {row["generator"]: row for row in dataset.models(setting)}
    bodies: dict[str, Sequence[_Panel]] = {"Self": [_Panel("Itself", (), "", own_rows)]}
    for selection in (GIVEN, GREEDY):
        members = _list_members([dataset], setting, selection)
        bodies[CHOSEN[selection]] = [
            panel._replace(rows=dataset.against(setting, selection, panel.members))
            for panel in _name_panels(selection, members)
        ]
    columns = [TableColumn(name, partial(_short, name), group="Written by") for name in writers]
    caption = f"Itself or a panel, {SETTING_WORDS[setting]}"
    return tabulate(caption, "Scored by", _HEAD, columns, bodies)


def _list_members(
    datasets: Sequence[ComparedDataset], setting: str, selection: str
) -> Sequence[Sequence[str]]:
    """The members of each panel of a selection in any dataset; of single judges, all."""
    rows = [row for dataset in datasets for row in dataset.panels(setting)]
    members = [tuple(row["members"]) for row in rows if row["selection"] == selection]
    if selection == ALONE:
        members += [(row["generator"],) for dataset in datasets for row in dataset.models(setting)]
    return [*dict.fromkeys(members)]


def _name_panels(selection: str, members: Sequence[Sequence[str]]) -> Sequence[_Panel]:
    """Panels named `a + b`, and `+ c` where one has a member more than the one before it."""

    def name(before: Sequence[str], names: Sequence[str]) -> str:
        joins = len(before) > 1 and [*names[:-1]] == [*before]
        return f"+ {names[-1]}" if joins else " + ".join(names)

    pairs = zip([(), *members], members, strict=False)
    return [_Panel(name(before, names), names, selection) for before, names in pairs]


def _tau(dataset: ComparedDataset, setting: str, name: str, panel: _Panel) -> Cell:
    row = dataset.find_panel(setting, panel.selection, panel.members)
    if row is None or row["ratings"] is None:
        return Cell("", note="not scored")
    note = f"{format_count(row['unscored'])} unscored" if row["unscored"] else ""
    if row["tau_b"] is None:
        return Cell("", note=row["reason"] or note)
    return margin_cell(read_rate(row, name)._replace(note=note))


def _preference_columns(dataset: ComparedDataset, setting: str) -> Iterator[TableColumn[_Panel]]:
    def cell(name: str, write: Callable[[Rate], Cell], panel: _Panel) -> Cell:
        row = (
            dataset.find_own_row(setting, panel.members[0])
            if panel.selection == ALONE
            else dataset.find_panel(setting, panel.selection, panel.members)
        )
        if row is None:
            return Cell(NOTHING)
        if row["standardized"] is None and row["preference"] is None:
            return Cell("", note=row["reason"] or "no value")
        return write(read_rate(row, name))

    standardized = partial(cell, "standardized", mean_cell)
    yield TableColumn("Φ̃", standardized, group=dataset.name, detail="philautia score")
    yield TableColumn("Points", partial(cell, "preference", points_cell), group=dataset.name)


def _short(writer: str, panel: _Panel) -> Cell:
    """`1.32 +11.8`."""
    row = panel.rows.get(writer)
    if row is None or row["standardized"] is None:
        return Cell(NOTHING)
    points = "" if row["preference"] is None else format_signed(row["preference"])
    numbers = {"": row["standardized"], "points": row["preference"]}
    known_numbers = {name: number for name, number in numbers.items() if number is not None}
    return Cell(format_score(row["standardized"]), points, numbers=known_numbers)


_HEAD = RowHead[_Panel](label=lambda panel: panel.label)
