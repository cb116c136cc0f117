"""The paper's Tables 3 to 6 and 9, with our numbers."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

from assets.frame.biases import JOINED
from assets.frame.inflation import ALL_PICTURES, COMBINED, READABLE, SINGLE, WORDED
from assets.frame.pages.source_page import CHOSEN, SHORT, ScoredSource, name_domain
from assets.frame.search import HELD_OUT, IN_SAMPLE
from assets.kit.columns import to_plain_records, to_records
from assets.kit.step_run import Row
from assets.report.cells import Cell, Line, Table, mean_cell, number_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import NONE as NOTHING
from assets.report.formats import (
    Rate,
    add_firmness,
    capitalize_first,
    format_change,
    format_score,
    format_signed_interval,
    read_rate,
)
from assets.report.pivot import Place, arrange
from generators.perturbations.registry import from_json
from generators.prompts.judging_templates import STANDARD, TEMPLATES
from metrics.protobias.ranking import ALL

_BEAUTY = "beauty"


def inflation(source: ScoredSource, choice: str, pictures: str = ALL_PICTURES) -> Table:
    """Mean scores before and after each bias but the beauty filter (Table 3)."""
    biases = [bias for bias in source.biases if bias != _BEAUTY]
    subset = " of readable pictures" if pictures == READABLE else ""
    caption = f"Mean scores{subset}, {source.describe_choice(choice)}"

    def cells() -> Iterator[tuple[Place, Cell]]:
        for judge, domain, place in _places(source):
            rows = {
                bias: source.row(judge, bias, domain, choice=choice, pictures=pictures)
                for bias in biases
            }
            existing_rows = [row for row in rows.values() if row]
            # Over all domains each bias has its own: those that it can be had in.
            original = existing_rows[0]["original"] if existing_rows and domain != ALL else None
            yield place("Orig."), mean_cell(Rate(original))
            for bias, row in rows.items():
                yield place(SHORT[bias]), _changed(row, original=original)

    return arrange(caption, "Domain", cells())


def beauty(source: ScoredSource) -> Table:
    """The beauty filter on people (Table 4)."""
    rows = {judge: source.row(judge, _BEAUTY, "people") for judge in source.judges}
    lines = [
        Line(judge, [mean_cell(Rate(row["original"])), _changed(row)])
        for judge, row in rows.items()
        if row
    ]
    caption = f"Beauty filter on people, {source.describe_choice(HELD_OUT)}"
    return Table.plain(caption, "Judge", ["Orig.", "Beauty"], lines)


def inapplicable(source: ScoredSource) -> Table:
    """The pictures that cannot have a bias, with the reason."""
    columns = (
        TableColumn[Row]("Bias", lambda row: Cell(SHORT[row["bias"]])),
        TableColumn[Row]("Pictures", lambda row: number_cell(int(row["pictures"]))),
        TableColumn[Row]("Reason", lambda row: Cell(row["reason"])),
    )
    head = RowHead[Row](label=lambda row: capitalize_first(row["domain"]))
    rows = to_plain_records(source.inapplicable)
    return tabulate("Pictures that cannot have a bias", "Domain", head, columns, {"": rows})


def mitigation(source: ScoredSource, choice: str) -> Table:
    """The mean over domains with objects by template, before any bias and after each (Table 5)."""
    rows = source.inflation[source.inflation["experiment"].eq(WORDED)]
    rows = rows[rows["domain"].eq(ALL)]
    templates = [template for template in TEMPLATES if rows["template"].eq(template).any()]
    templates.sort(key=lambda template: template != STANDARD)

    def row(judge: str, bias: str, template: str) -> Row | None:
        return source.row(judge, bias, choice=choice, template=template, experiment=WORDED)

    asked_judges = [judge for judge in source.judges if rows["model"].eq(judge).any()]
    tried = [bias for bias in source.biases if rows["bias"].eq(bias).any()]

    def cells() -> Iterator[tuple[Place, Cell]]:
        for judge, template in product(asked_judges if len(templates) > 1 else (), templates):
            head = capitalize_first(template.replace("_", " "))
            # The first bias is one that all domains have.
            before = read_rate(row(judge, tried[0], template), "original")
            yield Place("Orig.", head, body=judge), mean_cell(before)
            for bias in tried:
                cell = _changed(row(judge, bias, template), original=before.value)
                yield Place(SHORT[bias], head, body=judge), cell

    caption = (
        f"Mean scores by template, over all domains but outdoor, {source.describe_choice(choice)}"
    )
    return _name_only(asked_judges, source, arrange(caption, "Bias", cells()))


def combined(source: ScoredSource, choice: str) -> Table:
    """The best bias alone, and the best pair and triple of them (Table 6)."""
    rows = source.inflation[source.inflation["experiment"].eq(COMBINED)]
    sizes = {bias: bias.count(JOINED) + 1 for bias in rows["bias"].unique() if bias != ALL}
    named = {1: "Best bias", 2: "Best pair", 3: "Best triple"}
    heads = {size: named.get(size, f"Best {size}") for size in sorted({1, *sizes.values()})}
    scored = set(zip(rows["model"], rows["domain"], strict=True)) if len(heads) > 1 else set()

    def find_best(judge: str, domain: str, size: int) -> Row | None:
        names = [name for name, count in sizes.items() if count == size]
        kind = SINGLE if size == 1 and choice == IN_SAMPLE else COMBINED
        candidates = [
            source.row(judge, name, domain, choice=choice, experiment=kind)
            for name in (source.biases if size == 1 else names)
        ]
        changed = [row for row in candidates if row and row["percent"] is not None]
        return max(changed, key=lambda row: float(row["percent"]), default=None)

    def cells() -> Iterator[tuple[Place, Cell]]:
        has_mean = choice == IN_SAMPLE and {*source.domains} <= {*rows["domain"]}
        for judge, domain, place in _places(source, has_mean=has_mean):
            for size, head in heads.items() if (judge, domain) in scored else ():
                best = find_best(judge, domain, size)
                name = str(best["bias"]).replace(JOINED, " + ") if best else ""
                yield place(head), _changed(best, name)

    asked_judges = [judge for judge in source.judges if rows["model"].eq(judge).any()]
    table = arrange(f"Biases combined, {CHOSEN[choice]}", "Domain", cells())
    return _name_only(asked_judges, source, table)


def configurations(source: ScoredSource, choice: str) -> Table:
    """The best configuration of each bias (Table 9)."""
    rows = source.search[source.search["choice"].eq(choice)]
    best = {
        (row["model"], row["domain"], row["bias"]): row["parameters"] for row in to_records(rows)
    }

    def cells() -> Iterator[tuple[Place, Cell]]:
        for judge, domain, place in _places(source, has_mean=False):
            for bias in source.biases:
                parameters = best.get((judge, domain, bias))
                text = NOTHING if parameters is None else _parameters(parameters)
                yield place(SHORT[bias]), Cell(text)

    caption = f"Best configurations, {source.describe_choice(choice)}"
    return arrange(caption, "Domain", cells())


class _Attack(NamedTuple):
    """The numbers of all biases together on a judge, by a way to choose."""

    source: ScoredSource
    judge: str
    choice: str
    row: Row


def success(sources: Sequence[ScoredSource]) -> Table:
    """Attack success rates and mean rises, by each way to choose (Figure 2 in numbers)."""
    attacks = {
        source.title: [
            _Attack(source, judge, choice, row)
            for judge in source.judges
            for choice in source.choices
            if (row := source.row(judge, ALL, choice=choice))
        ]
        for source in sources
    }
    head = RowHead[_Attack](
        label=lambda attack: attack.judge,
        evidence=lambda attack: attack.source.evidence(attack.judge, attack.source.biases),
    )
    return tabulate("Attack success", "Judge", head, _SUCCESS, attacks)


def _places(
    source: ScoredSource, *, has_mean: bool = True
) -> Iterator[tuple[str, str, Callable[[str], Place]]]:
    """List each judge and domain, the mean over several last, with the place of a column.

    A judge of several is a body; its firmness stands in brackets.
    """
    means = [ALL] if has_mean and len(source.domains) > 1 else []
    for judge in source.judges:
        firmness = source.overlay_evidence(judge).firmness
        name = judge if source.is_stand_in else add_firmness(judge, firmness)
        body = name if len(source.judges) > 1 else ""
        for domain in (*source.domains, *means):
            label, is_mean = name_domain(domain), domain == ALL
            yield judge, domain, partial(Place, label, body=body, is_mean=is_mean)


def _name_only(asked_judges: Sequence[str], source: ScoredSource, table: Table) -> Table:
    """The table of those that were asked, named where that is only one of several."""
    if len(asked_judges) == 1 < len(source.judges):
        return table._replace(corner=f"{table.corner}, {asked_judges[0]}")
    return table


def _changed(row: Row | None, note: str = "", original: float | None = None) -> Cell:
    """`3.50 +133.3 % [98.0, 180.0]`; of other pictures than `original` is, with their mean before.

    Such are those that have boxes, or all pictures, where nothing was chosen on one half.
    """
    if row is None or row["percent"] is None:
        return Cell("", note="not scored" if row else "not tried")
    numbers = {"": row["biased"], "before": row["original"], "percent": row["percent"]}
    numbers |= {"percent, low": row["percent_low"], "percent, high": row["percent_high"]}
    known_numbers = {name: value for name, value in numbers.items() if value is not None}
    lacking = f"{int(row['unscored'])} unscored" if row["unscored"] else ""
    is_other = original is not None and format_score(original) != format_score(row["original"])
    before = f"from {format_score(row['original'])}" if is_other else ""
    notes = ", ".join(filter(None, (note, before, lacking)))
    interval_text = format_signed_interval(read_rate(row, "percent"))
    return Cell(
        format_score(row["biased"]),
        format_change(row["percent"]),
        notes,
        known_numbers,
        interval_text,
    )


def _percent(rise: Rate) -> Cell:
    if rise.value is None:
        return Cell("", note="none rises")
    return Cell(format_change(rise.value), format_signed_interval(rise), "", {"": rise.value})


def _parameters(text: str) -> str:
    values = [
        str(value) for perturbation in from_json(text) for value in perturbation.parameters.values()
    ]
    return ", ".join(values) or "as it is"


_SUCCESS: Sequence[TableColumn[_Attack]] = (
    TableColumn(
        "Success rate",
        lambda attack: share_cell(attack.source.success_rate(attack.judge, attack.choice)),
        ranked=True,
    ),
    TableColumn("Clear", lambda attack: share_cell(Rate(attack.row["clear_share"])), ranked=True),
    TableColumn("Mean rise", lambda attack: _percent(read_rate(attack.row, "rise")), ranked=True),
    TableColumn("Domains × biases", lambda attack: number_cell(int(attack.row["combinations"]))),
    TableColumn(
        "Chosen",
        lambda attack: Cell(
            attack.choice.replace("_", " ") if attack.source.has_choice else "nothing"
        ),
    ),
)
