"""The charts: effects of overlays, attack success rates (Figure 2), win rates (Figure 3)."""

from collections.abc import Mapping

from assets.frame.pages.source_page import SHORT, Sourced
from assets.frame.pages.win_rates import Comparison, by_domain
from assets.report.charts import PERCENT, Bar, Chart, Mark, changes
from assets.report.formats import Rate, interval, percent, read_rate, spoken, titled
from metrics.protobias.ranking import ALL


def overlays(source: Sourced) -> Chart:
    """The percent change that an overlay makes to each judge, held out."""
    title = f"{source.name}: change of the mean score by an overlay"
    rates = {judge: read_rate(source.overlay(judge), "percent") for judge in source.judges}
    return _percents("overlay", title, rates, "not scored")


def rates(source: Sourced) -> list[Chart]:
    """Attack success rate, and the mean rise of the biases that succeed (Figure 2)."""
    rows = {judge: row for judge in source.judges if (row := source.row(judge, ALL))}
    bars = [
        Bar(judge, [Mark("failure", rate, percent(rate.value))], spoken(rate))
        for judge, row in rows.items()
        for rate in [read_rate(row, "rate")]
    ]
    about = "share of domains × biases that raise the mean score"
    rises = {judge: read_rate(row, "rise") for judge, row in rows.items()}
    return [
        Chart("success", "Attack success rate", about, PERCENT, bars),
        _percents("rise", "Mean rise among successes", rises, "no bias raises its mean"),
    ]


def preferences(source: Sourced) -> list[Chart]:
    """By judge: how far picture A is preferred, before and after each domain's strongest bias."""
    about = "how far picture A is preferred, before and after it has the bias"
    return [
        Chart(f"preferences-{judge}", judge, about, PERCENT, [_preferred(each) for each in found])
        for judge, found in by_domain(source).items()
    ]


def _preferred(comparison: Comparison) -> Bar:
    bias, domain = comparison.bias, comparison.domain
    before, after = (read_rate(row, "preference") for row in (comparison.before, comparison.after))
    marks = [
        Mark("accuracy", before, f"before {percent(before.value)}"),
        Mark("bias", after, f"after {percent(after.value)}"),
    ]
    told = ", ".join(f"{mark.text} {interval(mark.rate)}".strip() for mark in marks)
    label = "Mean over domains" if domain == ALL else f"{titled(domain)}, {SHORT[bias]}"
    return Bar(label, marks, told, "" if after.value is not None else "no pair has preferences")


def _percents(id_: str, title: str, rates: Mapping[str, Rate], lacking: str) -> Chart:
    """Changes in percent on a scale of their own, with 0 on it."""
    told = {judge: (rate, lacking) for judge, rate in rates.items()}
    return changes(id_, title, title.lower(), told, unit="\u00a0%")
