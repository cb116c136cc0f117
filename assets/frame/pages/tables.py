"""The paper's Tables 2 to 7 and 9, with our numbers."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from assets.frame.biases import JOINED, NONE
from assets.frame.inflation import ALL_PICTURES, COMBINED, READABLE, SINGLE, WORDED
from assets.frame.pages.sentences import format_change
from assets.frame.pages.source_page import CHOSEN, SHORT, ScoredSource
from assets.frame.people import (
    BINS,
    ScorerAgreement,
    bin_scores,
    correlate_annotators,
    correlate_judge_with_people,
)
from assets.frame.search import HELD_OUT, IN_SAMPLE
from assets.kit.columns import to_plain_records, to_records
from assets.kit.step import Row
from assets.report.cells import Body, Cell, Line, Table, mean_cell, number_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import NONE as NOTHING
from assets.report.formats import (
    Rate,
    add_firmness,
    capitalize_first,
    format_score,
    format_score_interval,
    format_signed_interval,
    read_rate,
)
from generators.perturbations.registry import from_json
from generators.prompts.judging_templates import STANDARD, TEMPLATES
from metrics.protobias.ranking import ALL
from metrics.statistics.correlation import Correlation

_BEAUTY = "beauty"
CellsOf: TypeAlias = Callable[[str, str], Iterator[Cell]]
"""The cells of a line, by its judge and domain."""


def people(source: ScoredSource) -> Table:
    """Human scores: pictures by bin, and their mean (Table 2)."""
    lines = [
        Line(
            _of_all(domain_bins.domain),
            [*map(number_cell, domain_bins.counts), mean_cell(Rate(domain_bins.mean))],
        )
        for domain_bins in (bin_scores(source.people) if len(source.people) else ())
    ]
    return Table.plain("Human scores by bin", "Domain", [*BINS, "Mean"], lines)


def annotators(source: ScoredSource) -> Table:
    """Agreement of annotators (Table 7)."""
    agreements = correlate_annotators(source.people) if len(source.people) else []
    between = TableColumn[ScorerAgreement](
        "Between", lambda agreed: Cell(f"{agreed.first} and {agreed.second}")
    )
    columns = (between, *_CORRELATIONS)
    return tabulate("Agreement of annotators", "Domain", _DOMAIN, columns, {"": agreements})


def judges_and_people(source: ScoredSource) -> Table:
    """Correlation of judges' scores of pictures as they were with people's."""
    originals = source.scores[source.scores["bias"].eq(NONE)]
    agreements = (
        list(correlate_judge_with_people(originals, source.people)) if len(source.people) else []
    )
    bodies = {
        judge: [agreed for agreed in agreements if agreed.first == judge]
        for judge in dict.fromkeys(agreed.first for agreed in agreements)
    }
    return tabulate("Judges beside people", "Domain", _DOMAIN, _CORRELATIONS, bodies)


def inflation(source: ScoredSource, choice: str, pictures: str = ALL_PICTURES) -> Table:
    """Mean scores before and after each bias but the beauty filter (Table 3)."""
    biases = [bias for bias in source.biases if bias != _BEAUTY]
    subset = " of readable pictures" if pictures == READABLE else ""
    caption = f"Mean scores{subset}, {source.describe_choice(choice)}"

    def cells(judge: str, domain: str) -> Iterator[Cell]:
        rows = {
            bias: source.row(judge, bias, domain, choice=choice, pictures=pictures)
            for bias in biases
        }
        existing_rows = [row for row in rows.values() if row]
        # Over all domains each bias has its own: those that it can be had in.
        original = existing_rows[0]["original"] if existing_rows and domain != ALL else None
        yield mean_cell(Rate(original))
        yield from (_changed(row, original=original) for row in rows.values())

    return _by_judge(source, caption, ["Orig.", *(SHORT[bias] for bias in biases)], cells)


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

    bodies = []
    asked_judges = [judge for judge in source.judges if rows["model"].eq(judge).any()]
    tried = [bias for bias in source.biases if rows["bias"].eq(bias).any()]
    for judge in asked_judges if len(templates) > 1 else ():
        # The first bias is one that all domains have.
        before = [read_rate(row(judge, tried[0], template), "original") for template in templates]
        lines = [Line("Orig.", [*map(mean_cell, before)])]
        for bias in tried:
            cells = [
                _changed(row(judge, bias, template), original=original.value)
                for template, original in zip(templates, before, strict=True)
            ]
            lines.append(Line(SHORT[bias], cells))
        bodies.append(Body(judge, lines))
    heads = [capitalize_first(template.replace("_", " ")) for template in templates]
    caption = (
        f"Mean scores by template, over all domains but outdoor, {source.describe_choice(choice)}"
    )
    return _of(asked_judges, source, Table.build(caption, "Bias", heads, bodies))


def combined(source: ScoredSource, choice: str) -> Table:
    """The best bias alone, and the best pair and triple of them (Table 6)."""
    rows_of_combinations = source.inflation[source.inflation["experiment"].eq(COMBINED)]
    sizes = {
        bias: bias.count(JOINED) + 1
        for bias in rows_of_combinations["bias"].unique()
        if bias != ALL
    }
    named = {1: "Best bias", 2: "Best pair", 3: "Best triple"}
    heads = {size: named.get(size, f"Best {size}") for size in sorted({1, *sizes.values()})}

    def cells(judge: str, domain: str) -> Iterator[Cell]:
        for size in heads:
            names = (
                source.biases
                if size == 1
                else [name for name, combined_biases in sizes.items() if combined_biases == size]
            )
            kind = SINGLE if size == 1 and choice == IN_SAMPLE else COMBINED
            rows = [
                row
                for name in names
                if (row := source.row(judge, name, domain, choice=choice, experiment=kind))
                and row["percent"] is not None
            ]
            best = max(rows, key=lambda row: float(row["percent"]), default=None)
            yield _changed(best, str(best["bias"]).replace(JOINED, " + ") if best else "")

    caption = f"Biases combined, {CHOSEN[choice]}"
    overall = choice == IN_SAMPLE and {*source.domains} <= {*rows_of_combinations["domain"]}
    table = _by_judge(source, caption, [*heads.values()], cells, overall)
    asked_judges = [
        judge for judge in source.judges if rows_of_combinations["model"].eq(judge).any()
    ]
    existing_lines = {
        (row["model"], _domain(row["domain"])) for row in to_records(rows_of_combinations)
    }
    bodies = [
        Body(body.label, [line for line in body.lines if (judge, line.label) in existing_lines])
        for judge, body in zip(source.judges, table.bodies, strict=True)
        if judge in asked_judges
    ]
    return _of(asked_judges, source, table._replace(bodies=bodies if len(heads) > 1 else []))


def configurations(source: ScoredSource, choice: str) -> Table:
    """The best configuration of each bias (Table 9)."""
    rows = source.search[source.search["choice"].eq(choice)]
    best = {
        (row["model"], row["domain"], row["bias"]): row["parameters"] for row in to_records(rows)
    }

    def cells(judge: str, domain: str) -> Iterator[Cell]:
        for bias in source.biases:
            parameters = best.get((judge, domain, bias))
            yield Cell(NOTHING if parameters is None else _parameters(parameters))

    heads = [SHORT[bias] for bias in source.biases]
    caption = f"Best configurations, {source.describe_choice(choice)}"
    return _by_judge(source, caption, heads, cells, overall=False)


class _Attack(NamedTuple):
    """The numbers of all biases together on a judge, by a way to choose."""

    source: ScoredSource
    judge: str
    choice: str
    row: Row


def success(sources: Sequence[ScoredSource]) -> Table:
    """Attack success rates and mean rises, by each way to choose (Figure 2 in numbers)."""
    attacks = [
        _Attack(source, judge, choice, row)
        for source in sources
        for judge in source.judges
        for choice in source.choices
        if (row := source.row(judge, ALL, choice=choice))
    ]
    head = RowHead[_Attack](
        label=lambda attack: attack.judge,
        evidence=lambda attack: attack.source.evidence(attack.judge, attack.source.biases),
    )
    return tabulate("Attack success", "Judge", head, _SUCCESS, {"": attacks})


def _by_judge(
    source: ScoredSource, caption: str, heads: Sequence[str], cells: CellsOf, overall: bool = True
) -> Table:
    """A body a judge, a line a domain, and one for the mean over them where there are several."""
    domains = [*source.domains, *([ALL] if overall and len(source.domains) > 1 else [])]
    bodies = [
        Body(
            judge
            if source.is_stand_in
            else add_firmness(judge, source.overlay_evidence(judge).firmness),
            [
                Line(_domain(domain), [*cells(judge, domain)], kind="mean" if domain == ALL else "")
                for domain in domains
            ],
        )
        for judge in source.judges
    ]
    named = bodies if len(bodies) > 1 else [Body("", body.lines) for body in bodies]
    return Table.build(caption, "Domain", heads, named)


def _of(asked_judges: Sequence[str], source: ScoredSource, table: Table) -> Table:
    """The table of those that were asked, named where that is only one of several."""
    if len(asked_judges) == 1 < len(source.judges):
        return table._replace(corner=f"{table.corner}, {asked_judges[0]}")
    return table


def _domain(name: str) -> str:
    return "Mean over domains" if name == ALL else capitalize_first(name)


def _of_all(name: str) -> str:
    return "All" if name == ALL else capitalize_first(name)


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
        format_score(row["biased"]), format_change(row), notes, known_numbers, interval_text
    )


def _percent(rise: Rate) -> Cell:
    if rise.value is None:
        return Cell("", note="none rises")
    return Cell(
        format_change({"percent": rise.value}), format_signed_interval(rise), "", {"": rise.value}
    )


def _coefficient(correlation: Correlation, name: Literal["pearson", "spearman"]) -> Cell:
    value = getattr(correlation, name)
    if value is None:
        return Cell("", note=correlation.reason)
    rate = Rate(value, *(getattr(correlation, f"{name}_interval") or (None, None)))
    return Cell(format_score(value, 3), format_score_interval(rate), numbers={"": value})


def _parameters(text: str) -> str:
    values = [
        str(value) for perturbation in from_json(text) for value in perturbation.parameters.values()
    ]
    return ", ".join(values) or "as it is"


_DOMAIN = RowHead[ScorerAgreement](label=lambda agreed: _of_all(agreed.domain))
_CORRELATIONS: Sequence[TableColumn[ScorerAgreement]] = (
    TableColumn("Pictures", lambda agreed: number_cell(agreed.correlation.images)),
    TableColumn("Pearson", lambda agreed: _coefficient(agreed.correlation, "pearson")),
    TableColumn("Spearman", lambda agreed: _coefficient(agreed.correlation, "spearman")),
)
_SUCCESS: Sequence[TableColumn[_Attack]] = (
    TableColumn("Source", lambda attack: Cell(attack.source.name)),
    TableColumn(
        "Chosen",
        lambda attack: Cell(
            attack.choice.replace("_", " ") if attack.source.has_choice else "nothing"
        ),
    ),
    TableColumn("Domains × biases", lambda attack: number_cell(int(attack.row["combinations"]))),
    TableColumn(
        "Success rate", lambda attack: share_cell(read_rate(attack.row, "rate")), ranked=True
    ),
    TableColumn("Clear", lambda attack: share_cell(Rate(attack.row["clear_share"])), ranked=True),
    TableColumn("Mean rise", lambda attack: _percent(read_rate(attack.row, "rise")), ranked=True),
)
