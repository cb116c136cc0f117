"""Metadata of a report, which Dagster shows without a click: its finding, numbers and pictures."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from dagster import MarkdownMetadataValue, MetadataValue

from assets.kit.previews import escape_markdown, inline_tables, plot_interval
from assets.report.front_tables import WRITTEN
from assets.report.links import build_report_link
from assets.report.publish import Site
from assets.report.standings import Failure, JudgeResults, Measure, Standing
from resources.settings.locations import REPORTS_ROUTE

_MAX_FAILURES, _MAX_TEXT = 2, 80
"""Failures that are shown, and characters of a text beside them: Dagster hides long Markdown."""


def build_site_metadata(group: str, site: Site) -> dict[str, Any]:
    """Build the metadata of a benchmark's report from its site."""
    folder = f"{REPORTS_ROUTE}/{group}"
    failures = enumerate(site.judged.failures[:_MAX_FAILURES], start=1)
    return {
        "report": build_report_link(group),
        "finding": site.entry.finding,
        **_tabulate_standings(site.judged),
        **{f"failure_{number}": _show_failure(failure, folder) for number, failure in failures},
    }


def _tabulate_standings(results: JudgeResults) -> dict[str, MarkdownMetadataValue]:
    """Tables of the standings by each measure, with plots."""
    tables: dict[str, MarkdownMetadataValue] = {}
    for measure in results.measures:
        standings = [item for item in results.standings if item.measure == measure.name]
        if standings:
            tables |= inline_tables(measure.name, _build_rows(measure, standings), "judge", "scope")
    return tables


def _build_rows(measure: Measure, standings: Sequence[Standing]) -> pd.DataFrame:
    values = [value for item in standings for value in (item.value, item.low, item.high) if value]
    limits = (
        (0, 1) if measure.written == "share" else (min(0.0, *values, 0.0), max(0.0, *values, 0.0))
    )
    cells = [WRITTEN[measure.written](item.rate._replace(note="")) for item in standings]
    return pd.DataFrame(
        {
            "judge": [item.model for item in standings],
            "scope": [item.scope or "the benchmark" for item in standings],
            f"{limits[0]:.2g} to {limits[1]:.2g}": [_plot(item, limits) for item in standings],
            "number": [f"{cell.text} {cell.detail}".strip() for cell in cells],
            "firmness": [item.firmness for item in standings],
        }
    )


def _plot(standing: Standing, limits: tuple[float, float]) -> str:
    if standing.value is None:
        return ""
    low = standing.value if standing.low is None else standing.low
    high = standing.value if standing.high is None else standing.high
    return plot_interval(standing.value, low, high, limits)


def _show_failure(failure: Failure, folder: str) -> MarkdownMetadataValue:
    """The pictures of a failure, which `make ui` serves, above the question and the answers."""
    pictures = [(failure.comparison, failure.comparison_alt), (failure.picture, failure.alt)]
    cells = [
        cell
        for file, alt in pictures
        if file
        for cell in (f"![{_shorten(alt)}]({folder}/{file})", _shorten(alt))
    ]
    texts = {"asked": failure.question, failure.model: failure.answer, "true": failure.truth}
    return MetadataValue.md(
        "\n".join(
            [
                # In a single column: Dagster shrinks pictures to its width, and cuts off a second.
                *(f"| {cells[0]} |", "|---|", *(f"| {cell} |" for cell in cells[1:]), ""),
                *(f"- {_shorten(name)}: {_shorten(text)}" for name, text in texts.items()),
            ]
        )
    )


def _shorten(text: str) -> str:
    return escape_markdown(text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…")
