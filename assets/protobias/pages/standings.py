"""What the front page of all reports shows of each metric: its failure rates, and failed pairs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from assets.protobias.pages.figures import HUMAN, Metric, Painted
from assets.protobias.pages.gallery import Gallery, Pair
from assets.report.formats import titled
from assets.report.standings import Failure, Judged, Measure, Standing, taken_in_turn

FAILURE_RATE = Measure(
    "Prototypicality failure rate",
    "lower",
    "share",
    "Of pairs of pictures, the share in which the typical picture, which departs from the text, "
    "gets as much as the one that fits it, or more.",
)


def judged(
    painters: Sequence[Painted],
    galleries: Mapping[str, Gallery],
    dates: Mapping[tuple[str, str], str],
) -> Judged:
    """The failure rate of every metric on the pairs of each painter, which come in this order.

    `dates` says by painter and metric when its scores were stored.
    """
    found = [
        (painted, metric)
        for painted in painters
        for metric in painted.board.metrics
        if metric.name != HUMAN
    ]
    return Judged(
        [FAILURE_RATE],
        [_standing(*each, dates) for each in found],
        [failure for each in found for failure in _failures(*each, galleries)],
    )


def _standing(painted: Painted, metric: Metric, dates: Mapping[tuple[str, str], str]) -> Standing:
    board = painted.board
    row = board.cells.get((metric.name, board.overall))
    return Standing.build(
        metric.name,
        FAILURE_RATE,
        painted.evidence(metric.name),
        board.rate(metric, board.overall, "failure_rate"),
        items=int(row.pairs) if row is not None else 0,
        unit="pairs",
        date=dates.get((painted.name, metric.name), ""),
        link=f"{painted.page}#failures",
        of=f"pairs by {painted.name}",
        notes=["of the filter’s family" if metric.same_family else ""],
    )


def _failures(painted: Painted, metric: Metric, galleries: Mapping[str, Gallery]) -> list[Failure]:
    """The failed pairs with the widest margin, the domains in turn."""
    by_domain: defaultdict[str, list[tuple[float, Failure]]] = defaultdict(list)
    for pair in galleries[painted.name].pairs:
        for margin, failure in _failed(painted, metric, pair):
            by_domain[pair.domain].append((margin, failure))
    widest = (sorted(held, key=lambda each: -each[0]) for held in by_domain.values())
    return taken_in_turn([failure for _, failure in held] for held in widest)


def _failed(painted: Painted, metric: Metric, pair: Pair) -> Iterator[tuple[float, Failure]]:
    by_side = {shot.side: shot for shot in pair.shots}
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
                f"Typical, but wrong: {wrong.prompt}",
                f"How well does the picture fit “{pair.text}”?",
                f"{titled(verdict.meaning)}: {verdict.scores}",
                "The correct picture fits, the typical one does not",
                f"{painted.gallery}#wrong={quote(metric.name, safe='')}",
                right.thumbnail.file,
                f"Correct: {right.prompt}",
            ),
        )
