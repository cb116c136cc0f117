"""The finding in one sentence, with the pair of pictures and the chart that show it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assets.protobias.pages import charts
from assets.protobias.pages.figures import GROUPS, Painted
from assets.protobias.pages.gallery import Gallery, Pair
from assets.report.charts import Chart
from assets.report.formats import count, whole_percent
from assets.report.start_page import unranked_sentence
from metrics.firmness import Firmness


class Finding(NamedTuple):
    """The sentence, and of which painter its chart and pair are; None where there is none."""

    sentence: str
    firmness: Firmness
    painted: Painted | None
    chart: Chart | None
    pair: Pair | None


def finding(
    results: Sequence[Painted],
    trials: Sequence[Painted],
    stand_ins: Sequence[Painted],
    galleries: Mapping[str, Gallery],
) -> Finding:
    """Of the newest painter that is ranked, else of the newest trial, else of stand-ins."""
    painted = next(reversed(results or trials or stand_ins), None)
    if painted is None or not painted.board.metrics:
        return Finding("No pair is scored yet.", "not run", None, None, None)
    chart = None if painted.trial else charts.failures(painted.board)[0]
    pairs = [pair for pair in galleries[painted.name].pairs if pair.state == "evaluated"]
    most = max(pairs, key=lambda pair: len(pair.failed_by), default=None)
    said: tuple[str, Firmness] = (
        (_sentence(painted), "result")
        if results
        else (_trials(painted), painted.firmness)
        if trials
        else (_STAND_IN, "stand-in")
    )
    return Finding(*said, painted, chart, most)


_STAND_IN = "A stand-in run: every picture is a schematic, and no figure says anything of a metric."


def _trials(painted: Painted) -> str:
    """The reasons why no metric is ranked."""
    metrics = (each.name for each in painted.board.metrics if each.group in GROUPS[:2])
    reasons = {name: "; ".join(painted.evidence(name).reasons) for name in metrics}
    return unranked_sentence(painted.name, reasons)


def _sentence(painted: Painted) -> str:
    board = painted.board
    rates = {
        metric.name: rate
        for metric in board.metrics
        if painted.evidence(metric.name).firmness == "result"
        and (rate := board.rate(metric, board.overall, "failure_rate").value) is not None
    }
    if not rates:
        return f"No metric has scored the pairs of {painted.name} yet."
    best, worst = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
    scored = "scores the typical wrong picture as high as the right one, or higher,"
    of = f"of the pairs by {painted.name}"
    if len(rates) == 1:
        return f"{best} {scored} in {whole_percent(rates[best])} {of}."
    return (
        f"Of {count(len(rates))} metrics, {worst} {scored} in {whole_percent(rates[worst])} {of}; "
        f"the best, {best}, in {whole_percent(rates[best])}."
    )
