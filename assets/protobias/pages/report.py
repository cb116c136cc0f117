"""The report: its measure, its finding, and each metric's failure rate."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from assets.protobias.common import QUESTION, TITLE
from assets.protobias.pages import charts, differences, outcomes, paper, retention, tables
from assets.protobias.pages.figures import GROUPS, HUMAN, TITLES, BoardMetric, SummarisedPainter
from assets.protobias.pages.gallery import GalleryPair, PairGallery, gallery
from assets.protobias.pages.painters import Painters
from assets.report.benchmark_report import BenchmarkReport
from assets.report.costs import RuleDecisions
from assets.report.formats import capitalize_first, format_count, format_whole_percent
from assets.report.publish import Site
from assets.report.standings import Failure, Measure, Standing, round_robin
from assets.report.start_page import no_ranking_sentence
from resources.calls.spending import SpendingRow

_HERE = Path(__file__).parent
FAILURE_RATE = Measure(
    "Prototypicality failure rate",
    "lower",
    "share",
    "Of pairs of pictures, the share in which the typical picture, which departs from the text, "
    "gets as much as the one that fits it, or more.",
)


def build(
    painters: Sequence[SummarisedPainter],
    *,
    prompts: Mapping[str, pd.DataFrame],
    facts: Mapping[str, str],
    missing: Sequence[str] = (),
    spent: Sequence[SpendingRow] = (),
    decisions: Sequence[RuleDecisions] = (),
    full_size: bool = False,
) -> Site:
    """Make the site of painters, which come in the order in which they were noticed.

    `prompts` are the tables of `prompt_triplets` by domain, `facts` the lines of the footer, and
    `missing` sentences on absent painters. With `full_size` pictures lie in the site as large as
    they are as well, and pages lead to them.
    """
    together = Painters(painters, prompts, missing)
    site = REPORT.build(
        painters, facts=facts, spent=spent, decisions=decisions, site=together, full_size=full_size
    )
    return (
        replace(site, pictures=[thumbnail.sha256 for thumbnail in site.thumbnails])
        if full_size
        else site
    )


def _sentence(painted: SummarisedPainter) -> str:
    """The worst and the best metric; without results the reasons why none is ranked."""
    board = painted.board
    if not board.metrics:
        return "No pair is scored yet."
    if painted.trial:
        metrics = [metric.name for metric in board.metrics if metric.group in GROUPS[:2]]
        return no_ranking_sentence(
            painted.name, {name: "; ".join(painted.evidence(name).reasons) for name in metrics}
        )
    rates = {
        metric.name: rate
        for metric in board.metrics
        if painted.evidence(metric.name).firmness == "result"
        and (rate := board.rate(metric, board.overall, "failure_rate").value) is not None
    }
    if not rates:
        return f"No metric has scored the pairs of {painted.name} yet."
    best, worst = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
    scores = "scores the typical wrong picture as high as the right one, or higher,"
    pairs = f"of the pairs by {painted.name}"
    if len(rates) == 1:
        return f"{best} {scores} in {format_whole_percent(rates[best])} {pairs}."
    return (
        f"Of {format_count(len(rates))} metrics, {worst} {scores} in "
        f"{format_whole_percent(rates[worst])} {pairs}; the best, {best}, in "
        f"{format_whole_percent(rates[best])}."
    )


def _most_failed(pictures: PairGallery) -> GalleryPair | None:
    """The evaluated pair that most metrics fail."""
    pairs = (pair for pair in pictures.pairs if pair.state == "evaluated")
    return max(pairs, key=lambda pair: len(pair.failing_metrics), default=None)


def _standings(painted: SummarisedPainter) -> Iterator[Standing]:
    """The failure rate of every metric."""
    board = painted.board
    for metric in _models(painted):
        row = board.cells.get((metric.name, board.overall))
        yield painted.standing(
            metric.name,
            FAILURE_RATE,
            painted.evidence(metric.name),
            board.rate(metric, board.overall, "failure_rate"),
            items=int(row.pairs) if row is not None else 0,
            unit="pairs",
            section="failures",
            scope=f"pairs by {painted.name}",
            notes=["of the filter’s family" if metric.same_family else ""],
        )


def _models(painted: SummarisedPainter) -> list[BoardMetric]:
    """The metrics that are no people."""
    return [metric for metric in painted.board.metrics if metric.name != HUMAN]


def _failures(painted: SummarisedPainter, pictures: PairGallery) -> Iterator[Failure]:
    """The pairs that each metric fails by the widest margin, the domains in turn."""
    for metric in _models(painted):
        by_domain: defaultdict[str, list[tuple[float, Failure]]] = defaultdict(list)
        for pair in pictures.pairs:
            by_domain[pair.row.domain] += _failed(painted, metric, pair)
        widest = (
            sorted(failures, key=lambda margin_and_failure: -margin_and_failure[0])
            for failures in by_domain.values()
        )
        yield from round_robin([failure for _, failure in failures] for failures in widest)


def _failed(
    painted: SummarisedPainter, metric: BoardMetric, pair: GalleryPair
) -> Iterator[tuple[float, Failure]]:
    """The margin and the failure, where the metric fails the pair."""
    by_side = {shot.row.side: shot for shot in pair.shots}
    for verdict in pair.verdicts:
        if verdict.metric != metric.name or not verdict.failed:
            continue
        right, wrong = by_side["correct"], by_side["adversarial"]
        yield (
            verdict.margin,
            Failure(
                metric.name,
                painted.evidence(metric.name).firmness,
                wrong.thumbnail.file,
                f"Typical, but wrong: {wrong.row.prompt}",
                f"How well does the picture fit “{pair.row.text}”?",
                f"{capitalize_first(verdict.meaning)}: {verdict.details}",
                "The correct picture fits, the typical one does not",
                f"{painted.gallery}#wrong={quote(metric.name, safe='')}",
                right.thumbnail.file,
                f"Correct: {right.row.prompt}",
            ),
        )


def _newest_first(painters: Sequence[SummarisedPainter]) -> list[SummarisedPainter]:
    """Results, then trials, then schematics, the newest of each first."""
    newest_first = painters[::-1]
    return sorted(newest_first, key=lambda painted: (painted.is_stand_in, painted.trial))


REPORT = BenchmarkReport(
    title=TITLE,
    question=QUESTION,
    templates=_HERE / "templates",
    styles=[_HERE / "pairs.css"],
    sections=("Leaderboard", "Painters", "Retention", "Costs"),
    values={
        "charts": charts,
        "differences": differences,
        "most_failed": _most_failed,
        "outcomes": outcomes,
        "paper_says": paper,
        "stages": retention,
        "tables": tables,
        "titles": TITLES,
    },
    order=_newest_first,
    stand_in_sentence="A stand-in run: every picture is a schematic, and no figure says anything "
    "of a metric.",
    sentence=_sentence,
    gallery=gallery,
    thumbnails=lambda pictures: pictures.thumbnails,
    published=paper.load_published(),
    place=2,
    measures=[FAILURE_RATE],
    standings=_standings,
    failures=_failures,
)
