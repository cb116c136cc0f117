"""The charts: effects of overlays, attack success rates (Figure 2), win rates (Figure 3)."""

from collections.abc import Mapping

from assets.frame.pages.source_page import SHORT, ScoredSource, name_domain
from assets.frame.pages.win_rates import Comparison, compare_by_domain
from assets.report.charts import PERCENT, Bar, Chart, changes
from assets.report.formats import Rate, read_rate
from metrics.protobias.ranking import ALL


def overlays(source: ScoredSource) -> Chart:
    """The percent change that an overlay makes to each judge, held out."""
    title = f"{source.name}: change of the mean score by an overlay"
    rates = {judge: read_rate(source.overlay(judge), "percent") for judge in source.judges}
    return _percents("overlay", title, rates, "not scored")


def rates(source: ScoredSource) -> list[Chart]:
    """Attack success rate, and the mean rise of the biases that succeed (Figure 2)."""
    rows = {judge: row for judge in source.judges if (row := source.row(judge, ALL))}
    bars = [
        Bar.build(judge, {"": ("failure", read_rate(row, "rate"))}) for judge, row in rows.items()
    ]
    description = "share of domains × biases that raise the mean score"
    rises = {judge: read_rate(row, "rise") for judge, row in rows.items()}
    return [
        Chart("success", "Attack success rate", description, PERCENT, bars),
        _percents("rise", "Mean rise among successes", rises, "no bias raises its mean"),
    ]


def preferences(source: ScoredSource) -> list[Chart]:
    """Preferences for picture A by judge, before and after each domain's strongest bias."""
    description = "how far picture A is preferred, before and after it has the bias"
    return [
        Chart(
            f"preferences-{judge}",
            judge,
            description,
            PERCENT,
            [_preferred(comparison) for comparison in comparisons],
        )
        for judge, comparisons in compare_by_domain(source).items()
    ]


def _preferred(comparison: Comparison) -> Bar:
    bias, domain = comparison.bias, comparison.domain
    before, after = (read_rate(row, "preference") for row in (comparison.before, comparison.after))
    return Bar.build(
        name_domain(domain) if domain == ALL else f"{name_domain(domain)}, {SHORT[bias]}",
        {"before": ("accuracy", before), "after": ("bias", after)},
        note="" if after.value is not None else "no pair has preferences",
    )


def _percents(id_: str, title: str, rates: Mapping[str, Rate], lacking: str) -> Chart:
    """Changes in percent on a scale of their own, with 0 on it."""
    rates_and_notes = {judge: (rate, lacking) for judge, rate in rates.items()}
    return changes(id_, title, title.lower(), rates_and_notes, unit="\u00a0%")
