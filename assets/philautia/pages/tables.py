"""The matrix as a heat map, the blocks of families, and the page's two tables in our numbers."""

from collections.abc import Iterable, Iterator, Sequence

from assets.philautia.pages.dataset_page import SETTING_WORDS, ComparedDataset, Numbers
from assets.philautia.pages.paper import MEASURES
from assets.philautia.pomms import ALONE, GIVEN, GREEDY
from assets.philautia.preference_matrix import CELL, EVALUATOR, GENERATOR
from assets.report.cells import (
    Body,
    Cell,
    Group,
    Head,
    Line,
    Table,
    margin_cell,
    mark_trial,
    mean_cell,
    number_cell,
    rate_numbers,
)
from assets.report.formats import NONE as NOTHING
from assets.report.formats import (
    Rate,
    format_count,
    format_score,
    format_signed,
    format_signed_interval,
    read_rate,
)
from metrics.statistics.firmness import Evidence

CHOSEN = {
    ALONE: "Alone",
    GIVEN: "Panels in the given order",
    GREEDY: "Panels by search, chosen on one half of the pictures and reported on the other",
}
_LEAST = 0.001
_FULL_HEAT = 5.0
"""Points that are coloured in full where no cell has more."""


def heat_map(dataset: ComparedDataset, setting: str, models: Sequence[str] | None = None) -> Table:
    """Preference in points, with Φ̃ below it: who wrote captions by who scored them.

    `some` are the models that are shown; by default all.
    """
    writers, judges = dataset.names(setting)
    shown = [name for name in writers if models is None or name in models]
    across = [name for name in judges if models is None or name in models]
    points = [abs(row["preference"] or 0) for row in dataset.part(setting, CELL)]
    most = max([_FULL_HEAT, *points])
    lines = [
        Line(
            name,
            [_heated(dataset.cell(setting, name, judge), name == judge, most) for judge in across],
        )
        for name in shown
    ]
    among = f" among {', '.join(shown)}" if models is not None else ""
    caption = f"Preference{among}, {SETTING_WORDS[setting]}"
    return Table.plain(caption, "Written by ↓, scored by →", across, lines)


def _heated(row: Numbers | None, is_own: bool, most: float) -> Cell:
    """`+11.8 1.32`, coloured by the points as a share of the most in the map."""
    if row is None or not row["requests"]:
        return Cell("", note="not asked", framed=is_own, heat=0.0)
    numbers = {"mean": row["mean"], "scored": row["scored"], "missing": row["missing"]}
    for name in ("standardized", "preference"):
        numbers |= {f"{name}{end}": row[f"{name}{end}"] for end in ("", "_low", "_high")}
    known_numbers = {
        name.replace("_", " "): number for name, number in numbers.items() if number is not None
    }
    missing = f"{format_count(row['missing'])} missing" if row["missing"] else ""
    if row["standardized"] is None or row["preference"] is None:
        why = row["reason"] or "no variance"
        notes = ", ".join(filter(None, (why, missing)))
        return Cell("", note=notes, numbers=known_numbers, framed=is_own, heat=0.0)
    points, standardized = row["preference"], format_score(row["standardized"])
    numbers = {"": points, **known_numbers}
    heat = points / most
    return Cell(format_signed(points), standardized, missing, numbers, heat=heat, framed=is_own)


def self_preference(datasets: Sequence[ComparedDataset]) -> Table:
    """Self-preference of each judge in every setting, a body a dataset."""
    settings = [
        setting
        for setting in SETTING_WORDS
        if any(setting in dataset.settings for dataset in datasets)
    ]
    bodies = []
    incomplete = [
        setting
        for setting in settings
        if any(_has_missing(dataset, setting) for dataset in datasets)
    ]
    for dataset in datasets:
        rows = {s: {row["generator"]: row for row in dataset.models(s)} for s in settings}
        names = dict.fromkeys(name for rows_by_judge in rows.values() for name in rows_by_judge)
        lines = [
            Line(
                name,
                [
                    mark_trial(cell, evidence[s].firmness)
                    for s in settings
                    for row in [rows[s].get(name)]
                    for cell in [*_own(row), *([_on_complete(row)] if s in incomplete else [])]
                ],
                "" if dataset.is_stand_in else ", ".join(_reasons(evidence.values())),
            )
            for name in names
            for evidence in [{s: dataset.evidence(s, name) for s in settings}]
        ]
        bodies.append(Body(dataset.title, lines))
    heads = [Head("Points"), Head("Φ̃", "philautia score")]
    complete = Head("Complete pictures", "points")
    groups = [
        Group(SETTING_WORDS[s].capitalize(), [*heads, *([complete] if s in incomplete else [])])
        for s in settings
    ]
    return Table("Self-preference", "Judge", groups, bodies)


def _has_missing(dataset: ComparedDataset, setting: str) -> bool:
    return any(row["complete_images"] for row in dataset.models(setting))


def _on_complete(row: Numbers | None) -> Cell:
    """`+0.3 [−1.0, +1.7]`, of so many pictures, and whether it differs from that of all."""
    if row is None or not row["complete_images"]:
        return Cell(NOTHING)
    cell = in_points(read_rate(row, "complete_preference"))
    pictures = f"{format_count(row['complete_images'])} pictures"
    return cell._replace(note=f"{pictures}, differs" if row["missing_matters"] else pictures)


def _reasons(evidence: Iterable[Evidence]) -> dict[str, None]:
    """The reasons why numbers are no results, each once."""
    return dict.fromkeys(reason for judge_evidence in evidence for reason in judge_evidence.reasons)


def _own(row: Numbers | None) -> list[Cell]:
    if row is None:
        return [Cell("", note="not scored"), Cell("", note="not scored")]
    return [in_points(read_rate(row, "preference")), mean_cell(read_rate(row, "standardized"))]


def in_points(rate: Rate) -> Cell:
    """`+11.8 [+9.8, +13.9]`."""
    return Cell(
        format_signed(rate.value), format_signed_interval(rate), rate.note, rate_numbers(rate)
    )


def families(dataset: ComparedDataset) -> Table:
    """Cross-model preference of each family, with its permutation test."""
    bodies = [
        Body(
            SETTING_WORDS[setting].capitalize(), [_family(row) for row in dataset.families(setting)]
        )
        for setting in dataset.settings
    ]
    heads = ("Members", "Cells", "Points", "Φ̃", "p", "p, Holm")
    return Table.build("Preference within families", "Family", heads, bodies)


def _family(row: Numbers) -> Line:
    cells = [
        Cell(", ".join(row["members"])),
        number_cell(row["cell_count"]),
        in_points(read_rate(row, "preference"))._replace(note=row["reason"] or ""),
        mean_cell(read_rate(row, "standardized")),
        probability(row["p"]),
        probability(row["p_holm"]),
    ]
    return Line(row["family"], cells)


def probability(value: float | None) -> Cell:
    """`0.042`, or `< 0.001`."""
    if value is None:
        return Cell(NOTHING)
    return Cell(f"< {_LEAST}" if value < _LEAST else format_score(value, 3), numbers={"": value})


def panels(datasets: Sequence[ComparedDataset], setting: str) -> Table:
    """Agreement with people, and self-preference, of judges and panels (the page's first table)."""
    rated = [
        dataset for dataset in datasets if any(row["ratings"] for row in dataset.panels(setting))
    ]
    scored_datasets = [dataset for dataset in datasets if setting in dataset.settings]
    groups = [
        *(
            Group(dataset.name, [Head(f"{MEASURES[m]}") for m in ("tau_b", "tau_c")])
            for dataset in rated
        ),
        *(
            Group(dataset.name, [Head("Φ̃", "philautia score"), Head("Points")])
            for dataset in scored_datasets
        ),
    ]
    rows = {
        dataset.name: {
            (row["selection"], tuple(row["members"])): row for row in dataset.panels(setting)
        }
        for dataset in datasets
    }
    bodies = []
    for selection, title in CHOSEN.items():
        names = dict.fromkeys(
            panel for panel_rows in rows.values() for panel in panel_rows if panel[0] == selection
        )
        alone = {
            dataset.name: {m["generator"]: m for m in dataset.models(setting)}
            for dataset in scored_datasets
        }
        if selection == ALONE:
            names |= dict.fromkeys(
                (ALONE, (name,)) for judge_rows in alone.values() for name in judge_rows
            )
        lines = [
            Line(
                label,
                [
                    *(cell for dataset in rated for cell in _taus(rows[dataset.name].get(panel))),
                    *(
                        cell
                        for dataset in scored_datasets
                        for cell in _preferring(
                            alone[dataset.name].get(panel[1][0])
                            if selection == ALONE
                            else rows[dataset.name].get(panel)
                        )
                    ),
                ],
            )
            for label, panel in zip(_labels([members for _, members in names]), names, strict=True)
        ]
        bodies.append(Body(title, lines))
    return Table(f"Judges and panels, {SETTING_WORDS[setting]}", "Judge or panel", groups, bodies)


def _labels(panels: Sequence[Sequence[str]]) -> Iterator[str]:
    """`a + b`, and `+ c` where a panel has one member more than the one before it."""
    before: Sequence[str] = ()
    for members in panels:
        joins = len(before) > 1 and [*members[:-1]] == [*before]
        yield f"+ {members[-1]}" if joins else " + ".join(members)
        before = members


def _taus(row: Numbers | None) -> list[Cell]:
    if row is None or row["ratings"] is None:
        return [Cell("", note="not scored")] * 2
    note = f"{format_count(row['unscored'])} unscored" if row["unscored"] else ""
    if row["tau_b"] is None:
        return [Cell("", note=row["reason"] or note)] * 2
    return [margin_cell(read_rate(row, name)._replace(note=note)) for name in ("tau_b", "tau_c")]


def _preferring(row: Numbers | None) -> list[Cell]:
    if row is None:
        return [Cell(NOTHING), Cell(NOTHING)]
    if row["standardized"] is None and row["preference"] is None:
        return [Cell("", note=row["reason"] or "no value")] * 2
    return _own(row)[::-1]


def against_panels(dataset: ComparedDataset, setting: str) -> Table:
    """Captions of each model, scored by itself and by panels (the page's second table)."""
    writers, _ = dataset.names(setting)
    own_rows = {row["generator"]: row for row in dataset.models(setting)}
    bodies = [Body("Self", [Line("Itself", [_short(own_rows.get(name)) for name in writers])])]
    for selection in (GIVEN, GREEDY):
        rows = [row for row in dataset.panels(setting) if row["selection"] == selection]
        lines = [
            Line(label, [_short(rows_by_writer.get(name)) for name in writers])
            for label, row in zip(_labels([row["members"] for row in rows]), rows, strict=True)
            for rows_by_writer in [dataset.against(setting, row)]
        ]
        bodies.append(Body(CHOSEN[selection], lines))
    heads = [*map(Head, writers)]
    return Table(
        f"Itself or a panel, {SETTING_WORDS[setting]}",
        "Scored by",
        [Group("Written by", heads)],
        bodies,
    )


def _short(row: Numbers | None) -> Cell:
    """`1.32 +11.8`."""
    if row is None or row["standardized"] is None:
        return Cell(NOTHING)
    points = "" if row["preference"] is None else format_signed(row["preference"])
    numbers = {"": row["standardized"], "points": row["preference"]}
    known_numbers = {name: number for name, number in numbers.items() if number is not None}
    return Cell(format_score(row["standardized"]), points, numbers=known_numbers)


def characters(dataset: ComparedDataset, setting: str) -> list[Table]:
    """Quality of each model's captions, and leniency and scale of each judge."""
    writers = [
        Line(row["generator"], [in_points(read_rate(row, "quality"))])
        for row in dataset.part(setting, GENERATOR)
    ]
    judges = [
        Line(
            row["evaluator"],
            [mean_cell(read_rate(row, "leniency"), 1), mean_cell(read_rate(row, "scale"))],
        )
        for row in dataset.part(setting, EVALUATOR)
    ]
    setting_words = SETTING_WORDS[setting]
    return [
        Table.plain(f"Quality of captions, {setting_words}", "Written by", ("Points",), writers),
        Table.plain(f"How judges score, {setting_words}", "Judge", ("Leniency", "Scale"), judges),
    ]
