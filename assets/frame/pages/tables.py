"""The paper's Tables 2 to 7 and 9, with our numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assets.frame.biases import JOINED, NONE
from assets.frame.inflation import ALL_PICTURES, COMBINED, READABLE, SINGLE, WORDED
from assets.frame.pages.sentences import format_change
from assets.frame.pages.source_page import CHOSEN, SHORT, Sourced
from assets.frame.people import (
    BINS,
    ScorerAgreement,
    bin_scores,
    correlate_annotators,
    correlate_judge_with_people,
)
from assets.frame.search import HELD_OUT, IN_SAMPLE
from assets.kit.columns import to_plain_records, to_records
from assets.report.cells import Body, Cell, Line, Table, mark_trial, mean, number, share
from assets.report.formats import NONE as NOTHING
from assets.report.formats import (
    Rate,
    ends_with_sign,
    read_rate,
    score,
    score_interval,
    titled,
    with_firmness,
)
from generators.perturbations.registry import from_json
from generators.prompts.judging_templates import STANDARD, TEMPLATES
from metrics.protobias.ranking import ALL
from metrics.statistics.correlation import Correlation
from metrics.statistics.firmness import Evidence

_BEAUTY = "beauty"


def people(source: Sourced) -> Table:
    """Human scores: pictures by bin, and their mean (Table 2)."""
    lines = [
        Line(_of_all(each.domain), [*map(number, each.counts), mean(Rate(each.mean))])
        for each in (bin_scores(source.people) if len(source.people) else ())
    ]
    return Table.plain("Human scores by bin", "Domain", [*BINS, "Mean"], lines)


def annotators(source: Sourced) -> Table:
    """How annotators agree (Table 7)."""
    found = correlate_annotators(source.people) if len(source.people) else []
    lines = [_correlated(each, Cell(f"{each.first} and {each.second}")) for each in found]
    heads = ("Between", "Pictures", "Pearson", "Spearman")
    return Table.plain("Agreement of annotators", "Domain", heads, lines)


def judges_and_people(source: Sourced) -> Table:
    """How judges' scores of pictures as they were go with people's."""
    originals = source.scores[source.scores["bias"].eq(NONE)]
    found = (
        list(correlate_judge_with_people(originals, source.people)) if len(source.people) else []
    )
    bodies = [
        Body(judge, [_correlated(each) for each in found if each.first == judge])
        for judge in dict.fromkeys(each.first for each in found)
    ]
    heads = ("Pictures", "Pearson", "Spearman")
    return Table.of_bodies("Judges beside people", "Domain", heads, bodies)


def inflation(source: Sourced, choice: str, pictures: str = ALL_PICTURES) -> Table:
    """Mean scores before and after each bias but the beauty filter (Table 3)."""
    biases = [bias for bias in source.biases if bias != _BEAUTY]
    some = " of readable pictures" if pictures == READABLE else ""
    caption = f"Mean scores{some}, {source.describe_choice(choice)}"

    def cells(judge: str, domain: str) -> Iterator[Cell]:
        rows = {
            bias: source.row(judge, bias, domain, choice=choice, pictures=pictures)
            for bias in biases
        }
        there = [row for row in rows.values() if row]
        # Over all domains each bias has its own: those that it can be had in.
        original = there[0]["original"] if there and domain != ALL else None
        yield mean(Rate(original))
        yield from (_changed(row, original=original) for row in rows.values())

    return _by_judge(source, caption, ["Orig.", *(SHORT[bias] for bias in biases)], cells)


def beauty(source: Sourced) -> Table:
    """The beauty filter on people (Table 4)."""
    rows = {judge: source.row(judge, _BEAUTY, "people") for judge in source.judges}
    lines = [
        Line(judge, [mean(Rate(row["original"])), _changed(row)])
        for judge, row in rows.items()
        if row
    ]
    caption = f"Beauty filter on people, {source.describe_choice(HELD_OUT)}"
    return Table.plain(caption, "Judge", ["Orig.", "Beauty"], lines)


def inapplicable(source: Sourced) -> Table:
    """The pictures that cannot have a bias, with the reason."""
    lines = [
        Line(
            titled(row["domain"]),
            [Cell(SHORT[row["bias"]]), number(int(row["pictures"])), Cell(row["reason"])],
        )
        for row in to_plain_records(source.inapplicable)
    ]
    caption = "Pictures that cannot have a bias"
    return Table.plain(caption, "Domain", ["Bias", "Pictures", "Reason"], lines)


def mitigation(source: Sourced, choice: str) -> Table:
    """The mean over domains with objects by template, before any bias and after each (Table 5)."""
    held = source.inflation[source.inflation["experiment"].eq(WORDED)]
    held = held[held["domain"].eq(ALL)]
    templates = [each for each in TEMPLATES if held["template"].eq(each).any()]
    templates.sort(key=lambda each: each != STANDARD)

    def row(judge: str, bias: str, template: str) -> Mapping[str, Any] | None:
        return source.row(judge, bias, choice=choice, template=template, experiment=WORDED)

    bodies = []
    asked = [judge for judge in source.judges if held["model"].eq(judge).any()]
    tried = [bias for bias in source.biases if held["bias"].eq(bias).any()]
    for judge in asked if len(templates) > 1 else ():
        # The first bias is one that all domains have.
        before = [read_rate(row(judge, tried[0], each), "original") for each in templates]
        lines = [Line("Orig.", [*map(mean, before)])]
        for bias in tried:
            cells = [
                _changed(row(judge, bias, template), original=original.value)
                for template, original in zip(templates, before, strict=True)
            ]
            lines.append(Line(SHORT[bias], cells))
        bodies.append(Body(judge, lines))
    heads = [titled(each.replace("_", " ")) for each in templates]
    caption = (
        f"Mean scores by template, over all domains but outdoor, {source.describe_choice(choice)}"
    )
    return _of(asked, source, Table.of_bodies(caption, "Bias", heads, bodies))


def combined(source: Sourced, choice: str) -> Table:
    """The best bias alone, and the best pair and triple of them (Table 6)."""
    held = source.inflation[source.inflation["experiment"].eq(COMBINED)]
    sizes = {bias: bias.count(JOINED) + 1 for bias in held["bias"].unique() if bias != ALL}
    named = {1: "Best bias", 2: "Best pair", 3: "Best triple"}
    heads = {size: named.get(size, f"Best {size}") for size in sorted({1, *sizes.values()})}

    def cells(judge: str, domain: str) -> Iterator[Cell]:
        for size in heads:
            names = source.biases if size == 1 else [n for n, of in sizes.items() if of == size]
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
    overall = choice == IN_SAMPLE and {*source.domains} <= {*held["domain"]}
    table = _by_judge(source, caption, [*heads.values()], cells, overall)
    asked = [judge for judge in source.judges if held["model"].eq(judge).any()]
    there = {(row["model"], _domain(row["domain"])) for row in to_records(held)}
    bodies = [
        Body(body.label, [line for line in body.lines if (judge, line.label) in there])
        for judge, body in zip(source.judges, table.bodies, strict=True)
        if judge in asked
    ]
    return _of(asked, source, table._replace(bodies=bodies if len(heads) > 1 else []))


def configurations(source: Sourced, choice: str) -> Table:
    """The best configuration of each bias (Table 9)."""
    held = source.search[source.search["choice"].eq(choice)]
    best = {
        (row["model"], row["domain"], row["bias"]): row["parameters"] for row in to_records(held)
    }

    def cells(judge: str, domain: str) -> Iterator[Cell]:
        for bias in source.biases:
            found = best.get((judge, domain, bias))
            yield Cell(NOTHING if found is None else _parameters(found))

    heads = [SHORT[bias] for bias in source.biases]
    caption = f"Best configurations, {source.describe_choice(choice)}"
    return _by_judge(source, caption, heads, cells, overall=False)


def success(sources: Sequence[Sourced]) -> Table:
    """Attack success rates and mean rises, by each way to choose (Figure 2 in numbers)."""
    heads = ("Source", "Chosen", "Domains × biases", "Success rate", "Clear", "Mean rise")
    lines = [
        Line(
            judge,
            [
                Cell(source.name),
                Cell(choice.replace("_", " ") if source.has_choice else "nothing"),
                number(int(row["combinations"])),
                *(
                    mark_trial(cell, source.evidence(judge, source.biases).firmness)
                    for cell in (
                        share(read_rate(row, "rate")),
                        share(Rate(row["clear"])),
                        _percent(read_rate(row, "rise")),
                    )
                ),
            ],
            _reasons(source.evidence(judge, source.biases)),
        )
        for source in sources
        for judge in source.judges
        for choice in source.choices
        if (row := source.row(judge, ALL, choice=choice))
    ]
    return Table.plain("Attack success", "Judge", heads, lines)


def _reasons(evidence: Evidence) -> str:
    """The reasons why numbers are no results, beside a judge's name."""
    return "" if evidence.is_stand_in else ", ".join(evidence.reasons)


def _by_judge(
    source: Sourced, caption: str, heads: Sequence[str], cells: Any, overall: bool = True
) -> Table:
    """A body a judge, a line a domain, and one for the mean over them where there are several."""
    domains = [*source.domains, *([ALL] if overall and len(source.domains) > 1 else [])]
    bodies = [
        Body(
            judge
            if source.is_stand_in
            else with_firmness(judge, source.overlay_evidence(judge).firmness),
            [
                Line(_domain(domain), [*cells(judge, domain)], kind="mean" if domain == ALL else "")
                for domain in domains
            ],
        )
        for judge in source.judges
    ]
    named = bodies if len(bodies) > 1 else [Body("", body.lines) for body in bodies]
    return Table.of_bodies(caption, "Domain", heads, named)


def _of(asked: Sequence[str], source: Sourced, table: Table) -> Table:
    """The table of those that were asked, named where that is only one of several."""
    if len(asked) == 1 < len(source.judges):
        return table._replace(corner=f"{table.corner}, {asked[0]}")
    return table


def _domain(name: str) -> str:
    return "Mean over domains" if name == ALL else titled(name)


def _of_all(name: str) -> str:
    return "All" if name == ALL else titled(name)


def _changed(row: Mapping[str, Any] | None, note: str = "", original: float | None = None) -> Cell:
    """`3.50 +133.3 % [98.0, 180.0]`; of other pictures than `original` is, with their mean before.

    Such are those that have boxes, or all pictures, where nothing was chosen on one half.
    """
    if row is None or row["percent"] is None:
        return Cell("", note="not scored" if row else "not tried")
    numbers = {"": row["biased"], "before": row["original"], "percent": row["percent"]}
    numbers |= {"percent, low": row["percent_low"], "percent, high": row["percent_high"]}
    told = {name: value for name, value in numbers.items() if value is not None}
    lacking = f"{int(row['unscored'])} unscored" if row["unscored"] else ""
    is_other = original is not None and score(original) != score(row["original"])
    before = f"from {score(row['original'])}" if is_other else ""
    notes = ", ".join(filter(None, (note, before, lacking)))
    ends = ends_with_sign(read_rate(row, "percent"))
    return Cell(score(row["biased"]), format_change(row), notes, told, ends)


def _percent(rise: Rate) -> Cell:
    if rise.value is None:
        return Cell("", note="none rises")
    return Cell(format_change({"percent": rise.value}), ends_with_sign(rise), "", {"": rise.value})


def _correlated(each: ScorerAgreement, *before: Cell) -> Line:
    of: Correlation = each.correlation
    cells = [
        _coefficient(value, ends_, of.reason)
        for value, ends_ in (
            (of.pearson, of.pearson_interval),
            (of.spearman, of.spearman_interval),
        )
    ]
    return Line(_of_all(each.domain), [*before, number(of.images), *cells])


def _coefficient(value: float | None, interval: Any, why: str) -> Cell:
    if value is None:
        return Cell("", note=why)
    rate = Rate(value, *(interval or (None, None)))
    return Cell(score(value, 3), score_interval(rate), numbers={"": value})


def _parameters(text: str) -> str:
    said = [str(value) for each in from_json(text) for value in each.parameters.values()]
    return ", ".join(said) or "as it is"
