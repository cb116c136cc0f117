"""A report of one page: the finding, its chart as numbers too, some pictures, and the costs."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from assets.report.asset import ReportSources
from assets.report.cells import Line, Table, mark_trial, share_cell
from assets.report.charts import PERCENT, Bar, Chart
from assets.report.costs import costs, describe_decisions
from assets.report.formats import Rate, add_firmness
from assets.report.front_tables import BETTER
from assets.report.openings import Entry
from assets.report.publish import Site, Thumbnail
from assets.report.rendering import Renderer, Shell
from assets.report.standings import JudgeResults, Measure, Standing
from metrics import exact_interval
from metrics.statistics.firmness import FIRMNESS, Evidence

SHOWN_PX = 320
"""The longer side in px of a picture."""


def judge_shares(
    measure: Measure, counts: Iterable[tuple[str, int, int, int]], stand_ins: Collection[str]
) -> JudgeResults:
    """A standing for each judge: its share among independent answers, with an exact interval.

    `counts` are the judge, the answers that count, all answers and all requests; `stand_ins` names
    the stand-in judges.
    """
    standings = [
        Standing.build(
            judge,
            measure,
            Evidence(requests=requests, answers=answers, is_stand_in=judge in stand_ins),
            Rate(part / answers, *exact_interval(part, answers)) if answers else Rate(None),
            items=answers,
            unit="answers",
            date="",
            link="index.html",
        )
        for judge, part, answers, requests in counts
    ]
    return JudgeResults([measure], standings)


def one_page(
    sources: ReportSources,
    entry: Entry,
    *,
    judged: JudgeResults,
    pictures: Sequence[tuple[str, str]] = (),
    tables: Sequence[Table] = (),
    method: str = "",
) -> Site:
    """The site of a benchmark whose result is one share for each judge or metric.

    The chart and table show the standings of `judged` by its first measure, the firmest first; the
    front page of all reports shows them as well. `pictures` are captions with the sha256 of what
    they are about, above the chart. `tables` are further ones, and `method` a paragraph; both are
    folded.
    """
    measure, *_ = judged.measures
    measured = measure.name
    standings = sorted(
        (standing for standing in judged.standings if standing.measure == measured),
        key=lambda standing: FIRMNESS.index(standing.firmness),
    )
    bars = [
        Bar.build(
            add_firmness(standing.model, standing.firmness),
            {"": ("bias", standing.rate)},
            note=standing.note if standing.value is None else "",
        )
        for standing in standings
    ]
    lines = [
        Line(standing.model, [mark_trial(share_cell(standing.rate), standing.firmness)])
        for standing in standings
    ]
    thumbnails = [(caption, Thumbnail(digest, SHOWN_PX)) for caption, digest in pictures]
    shell = Shell(entry.title, sources.facts, [("Costs", "index.html#costs")])
    page = Renderer(Path(__file__).parent / "templates", shell).page(
        "index.html",
        "one_page.html",
        entry=entry,
        chart_of=Chart(
            "rates",
            f"{measured}, {BETTER[measure.better]}",
            "every judge, with 95\u00a0% intervals",
            PERCENT,
            bars,
        ),
        table=Table.plain(measured, "Judge", [measured], lines),
        thumbnails=thumbnails,
        tables=tables,
        costs=costs(sources.spent),
        decisions=describe_decisions(sources.decisions, sources.spent),
        method=method,
    )
    shown = list(dict.fromkeys(thumbnail for _, thumbnail in thumbnails))
    return Site(entry, page, (), shown, judged=judged)
